package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// zone says which addresses a name has at the first question, the second, …; the
// last answer stays.
type zone map[string][][]string

var errNoNetwork = errors.New("no network in tests")

func refuse(context.Context, string, string) (net.Conn, error) { return nil, errNoNetwork }

// resolver returns a resolver that asks a server in memory.
func resolver(t *testing.T, z zone) *net.Resolver {
	t.Helper()
	var mu sync.Mutex
	asked := map[string]int{}
	answer := func(name string) []string {
		mu.Lock()
		defer mu.Unlock()
		all := z[name]
		if len(all) == 0 {
			return nil
		}
		i := min(asked[name], len(all)-1)
		asked[name]++
		return all[i]
	}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		t.Cleanup(func() { client.Close() })
		go serve(server, answer)
		return client, nil
	}}
}

// serve answers questions as over TCP, which is what the resolver speaks on a
// connection without packets.
func serve(conn net.Conn, answer func(string) []string) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		raw := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, raw); err != nil {
			return
		}
		var q dnsmessage.Message
		if q.Unpack(raw) != nil || len(q.Questions) != 1 {
			return
		}
		reply := dnsmessage.Message{Header: dnsmessage.Header{ID: q.ID, Response: true, RecursionAvailable: true}, Questions: q.Questions}
		if q.Questions[0].Type == dnsmessage.TypeA {
			for _, a := range answer(q.Questions[0].Name.String()) {
				reply.Answers = append(reply.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Questions[0].Name, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()},
				})
			}
		}
		if len(reply.Answers) == 0 {
			reply.RCode = dnsmessage.RCodeNameError
		}
		packed, err := reply.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...)); err != nil {
			return
		}
	}
}
