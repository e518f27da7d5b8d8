package supervise

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// startTime is how long a program may take until it answers.
const startTime = 60 * time.Second

// Address is a port of the loopback interface.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// FreePorts finds ports below those that connections take for themselves: each
// must be free again whenever its process comes back.
func FreePorts(ctx context.Context, want ...*int) error {
	const from, to = 20_000, 32_000
	taken := map[int]bool{}
	for i := 0; i < len(want); {
		port := from + rand.IntN(to-from) //nolint:gosec // G404: any will do
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", Address(port))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || taken[port] {
			continue
		}
		if err := l.Close(); err != nil {
			return err
		}
		*want[i], taken[port] = port, true
		i++
	}
	return nil
}

// Answers waits until something listens at an address.
func Answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing answers at %s: %w", address, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
