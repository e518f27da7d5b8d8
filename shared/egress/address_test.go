package egress

import (
	"net"
	"strings"
	"testing"

	"truecost.dev/shared/fault"
)

// addresses are what callers may give as a webhook and what a search may find,
// and whether it may be called by https, by http, and on the local system.
var addresses = []struct {
	url                string
	hooks, pages, desk bool
}{
	// Public places.
	{"https://example.com/hook", true, true, true},
	{"https://example.com", true, true, true},
	{"https://example.com.:443/", true, true, true},
	{"https://EXAMPLE.com:8443/a?b=c#d", true, true, true},
	{"https://xn--bcher-kva.example/", true, true, true},
	{"https://a_b.example.com/", true, true, true},
	{"https://8.8.8.8/hook", true, true, true},
	{"https://[2606:4700:4700::1111]/hook", true, true, true},
	{"https://127.0.0.1.example.com/", true, true, true}, // a name like others: the dialed address decides
	{"http://example.com/", false, true, true},
	{"http://8.8.8.8:8080/", false, true, true},

	// This machine.
	{"https://localhost/", false, false, true},
	{"https://LOCALHOST./", false, false, true},
	{"https://127.0.0.1/", false, false, true},
	{"https://127.8.9.10:9000/", false, false, true},
	{"https://[::1]:9000/", false, false, true},
	{"http://localhost:9000/hook", false, false, true},
	{"https://hook.localhost/", false, false, false},
	{"https://localhost.localdomain/", false, false, false},
	{"https://0.0.0.0/", false, false, false},
	{"https://0.1.2.3/", false, false, false},
	{"https://[::]/", false, false, false},

	// This machine in disguise.
	{"https://127.1/", false, false, false},
	{"https://127.0.0.1./", false, false, false},
	{"https://0177.0.0.1/", false, false, false},
	{"https://0x7f.0.0.1/", false, false, false},
	{"https://0x7f000001/", false, false, false},
	{"https://2130706433/", false, false, false},
	{"https://017700000001/", false, false, false},
	{"https://%31%32%37.0.0.1/", false, false, false},
	{"https://127。0。0。1/", false, false, false},
	{"https://①②⑦.⓪.⓪.①/", false, false, false},
	{"https://[::ffff:127.0.0.1]/", false, false, false},
	{"https://[::ffff:7f00:1]/", false, false, false},
	{"https://[::127.0.0.1]/", false, false, false},
	{"https://[64:ff9b::7f00:1]/", false, false, false},
	{"https://[64:ff9b:1::a00:1]/", false, false, false},
	{"https://[2002:7f00:1::]/", false, false, false},
	{"https://[2001:0:7f00:1::]/", false, false, false},

	// Private networks.
	{"https://10.0.0.1/", false, false, false},
	{"https://10.255.255.255/", false, false, false},
	{"https://172.16.0.1/", false, false, false},
	{"https://172.31.255.254/", false, false, false},
	{"https://192.168.1.1/", false, false, false},
	{"https://100.64.0.1/", false, false, false},
	{"https://192.0.0.1/", false, false, false},
	{"https://198.18.0.1/", false, false, false},
	{"https://[fc00::1]/", false, false, false},
	{"https://[fdff:ffff::1]/", false, false, false},
	{"https://[fec0::1]/", false, false, false},
	{"https://intranet/", false, false, false},
	{"https://printer.local/", false, false, false},
	{"https://db.prod.internal/", false, false, false},
	{"https://api.default.svc.cluster.local/", false, false, false},
	{"https://router.home.arpa/", false, false, false},

	// What clouds tell their own machines.
	{"https://169.254.169.254/latest/meta-data/", false, false, false},
	{"http://169.254.169.254/computeMetadata/v1/", false, false, false},
	{"https://metadata.google.internal/", false, false, false},
	{"https://[fd00:ec2::254]/", false, false, false},
	{"https://100.100.100.200/", false, false, false},
	{"https://168.63.129.16/", false, false, false},
	{"https://192.0.0.192/", false, false, false},
	{"https://[fe80::1]/", false, false, false},
	{"https://[fe80::1%25eth0]/", false, false, false},
	{"https://[::ffff:169.254.169.254]/", false, false, false},

	// Nobody in particular.
	{"https://224.0.0.1/", false, false, false},
	{"https://239.255.255.250/", false, false, false},
	{"https://[ff02::1]/", false, false, false},
	{"https://255.255.255.255/", false, false, false},
	{"https://240.0.0.1/", false, false, false},
	{"https://192.0.2.1/", false, false, false},
	{"https://198.51.100.7/", false, false, false},
	{"https://203.0.113.9/", false, false, false},
	{"https://[2001:db8::1]/", false, false, false},
	{"https://[100::1]/", false, false, false},
	{"https://[3fff::1]/", false, false, false},

	// Ports that are not for us.
	{"https://example.com:22/", false, false, false},
	{"https://example.com:25/", false, false, false},
	{"https://example.com:1023/", false, false, false},
	{"https://example.com:1024/", true, true, true},
	{"https://example.com:65536/", false, false, false},
	{"https://example.com:0/", false, false, false},
	{"https://example.com:/", false, false, false},

	// No addresses at all.
	{"", false, false, false},
	{"example.com/hook", false, false, false},
	{"/hook", false, false, false},
	{"//example.com/hook", false, false, false},
	{"https:", false, false, false},
	{"https://", false, false, false},
	{"https:///hook", false, false, false},
	{"https:example.com", false, false, false},
	{"https://.example.com/", false, false, false},
	{"https://example..com/", false, false, false},
	{"https://" + strings.Repeat("a", 64) + ".com/", false, false, false},
	{"https://example.com/" + strings.Repeat("a", maxURL), false, false, false},
	{"https://user:secret@example.com/", false, false, false},
	{"https://user@example.com/", false, false, false},
	{"https://bücher.example/", false, false, false},
	{"https://exa mple.com/", false, false, false},
	{"https://example.com\n.evil.com/", false, false, false},
	{"ftp://example.com/", false, false, false},
	{"file:///etc/passwd", false, false, false},
	{"gopher://example.com/", false, false, false},
	{"javascript:alert(1)", false, false, false},
	{"data:text/plain,x", false, false, false},
	{"corpus:/bid-bond", false, false, false},
	{"unix:///var/run/docker.sock", false, false, false},
}

func TestAllow(t *testing.T) {
	t.Parallel()
	mute := resolver(t, nil)
	clients := []struct {
		name string
		c    *Client
		want int
	}{
		{"hooks", New(Options{Resolver: mute}), 0},
		{"pages", New(Options{Resolver: mute, Plain: true}), 1},
		{"desk", New(Options{Resolver: mute, Plain: true, Loopback: true}), 2},
	}
	if len(addresses) < 60 {
		t.Fatalf("the table has %d rows", len(addresses))
	}
	for _, a := range addresses {
		for _, cl := range clients {
			want := []bool{a.hooks, a.pages, a.desk}[cl.want]
			err := cl.c.Allow(t.Context(), a.url)
			if (err == nil) != want {
				t.Errorf("%s: Allow(%.60q) = %v, want allowed: %v", cl.name, a.url, err, want)
			}
			if err != nil && (fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(err.Error(), "url: ")) {
				t.Errorf("%s: Allow(%.60q) = %v, want fault.Invalid that begins with url:", cl.name, a.url, err)
			}
		}
	}
}

// A name is allowed if all of the addresses it has now are public.
func TestAllowResolves(t *testing.T) {
	t.Parallel()
	c := New(Options{Resolver: resolver(t, zone{
		"public.example.":  {{"93.184.216.34"}},
		"private.example.": {{"10.1.2.3"}},
		"both.example.":    {{"93.184.216.34", "127.0.0.1"}},
	})})
	for host, want := range map[string]bool{"public": true, "private": false, "both": false, "absent": true} {
		err := c.Allow(t.Context(), "https://"+host+".example/hook")
		if (err == nil) != want {
			t.Errorf("Allow(%s) = %v, want allowed: %v", host, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "10.1.2.3") {
			t.Errorf("Allow(%s) = %v, which tells what the resolver answered", host, err)
		}
	}
}

// The guard of the dialer has the last word, for every form an address can have.
func TestDialed(t *testing.T) {
	t.Parallel()
	c := New(Options{Plain: true})
	tests := []struct {
		network, address string
		want             bool
	}{
		{"tcp4", "93.184.216.34:443", true},
		{"tcp6", "[2606:4700:4700::1111]:443", true},
		{"tcp4", "127.0.0.1:443", false},
		{"tcp6", "[::ffff:127.0.0.1]:443", false},
		{"tcp6", "[::1]:443", false},
		{"tcp6", "[64:ff9b::a00:1]:443", false},
		{"tcp4", "169.254.169.254:80", false},
		{"tcp4", "168.63.129.16:80", false},
		{"tcp4", "93.184.216.34:22", false},
		{"udp4", "93.184.216.34:443", false},
		{"unix", "/var/run/docker.sock", false},
	}
	for _, tt := range tests {
		if err := c.dialed(tt.network, tt.address); (err == nil) != tt.want {
			t.Errorf("dialed(%s, %s) = %v, want allowed: %v", tt.network, tt.address, err, tt.want)
		}
	}
}

func FuzzAllow(f *testing.F) {
	for _, a := range addresses {
		f.Add(a.url)
	}
	c := New(Options{Resolver: &net.Resolver{PreferGo: true, Dial: refuse}})
	f.Fuzz(func(t *testing.T, address string) {
		if c.Allow(t.Context(), address) == nil && !strings.HasPrefix(strings.ToLower(address), "https://") {
			t.Errorf("Allow(%q) allows what is not https", address)
		}
	})
}
