package egress

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"truecost.dev/shared/fault"
)

// maxURL is how long an address may be, in bytes.
const maxURL = 2048

// local are the ends of names that mean this machine or this network, whatever
// a resolver makes of them.
var local = []string{"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "home.arpa", "svc"}

// Allow reports whether an address may be called, as far as that can be told
// beforehand: the checks of Do, and that the name, if it can be resolved, leads
// to public addresses alone. It returns fault.Invalid saying what is wrong, and
// nothing of what a resolver answered. That a name cannot be resolved now is no
// error; when it is called, the address that is dialled decides again.
func (c *Client) Allow(ctx context.Context, address string) error {
	if len(address) > maxURL {
		return fault.New(fault.Invalid, "url: wanted at most %d bytes", maxURL)
	}
	u, err := url.Parse(address)
	if err != nil {
		return fault.New(fault.Invalid, "url: wanted an absolute address") // the cause would repeat the address
	}
	if err := c.check(u); err != nil {
		return err
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil // check has seen it
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil // it may resolve when it is called
	}
	for _, a := range addrs {
		if c.guard.SafeAddr(a.Unmap()) != nil {
			return errPlace
		}
	}
	return nil
}

// errPlace is all that is said about an address that must not be called: which
// of its names leads where is nobody's business.
var errPlace = fault.New(fault.Invalid, "url: wanted a public address")

// check looks at what an address says by itself.
func (c *Client) check(u *url.URL) error {
	if u.Scheme != "https" && (u.Scheme != "http" || !c.opt.Plain) {
		return fault.New(fault.Invalid, "url: wanted %s", c.schemes())
	}
	host := u.Hostname()
	if host == "" || u.Opaque != "" {
		return fault.New(fault.Invalid, "url: wanted a host")
	}
	if u.User != nil {
		return fault.New(fault.Invalid, "url: wanted no user and password")
	}
	if !c.port(u.Port()) || strings.HasSuffix(u.Host, ":") {
		return fault.New(fault.Invalid, "url: wanted port 80, 443 or one above 1023")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" || c.guard.SafeAddr(addr) != nil {
			return errPlace
		}
		return nil
	}
	return c.name(host)
}

// name looks at a host that is not an address in its usual form.
func (c *Client) name(host string) error {
	if strings.ContainsFunc(host, notInNames) || len(host) > 253 {
		return fault.New(fault.Invalid, "url: wanted a host of letters, digits and hyphens; others as punycode")
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" && c.opt.Loopback {
		return nil
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 {
			return fault.New(fault.Invalid, "url: wanted a host of letters, digits and hyphens; others as punycode")
		}
	}
	// Resolvers read 0177.1, 0x7f000001 and 2130706433 as addresses.
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return errPlace
	}
	if len(labels) == 1 {
		return errPlace
	}
	for _, end := range local {
		if strings.HasSuffix(host, "."+end) {
			return errPlace
		}
	}
	return nil
}

func notInNames(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
		return false
	}
	return true
}

// port reports whether a port may be called: mail, shells and the like are not
// for us. Loopback is for tests, whose ports are above.
func (c *Client) port(p string) bool {
	if p == "" {
		return true
	}
	n, err := strconv.ParseUint(p, 10, 16)
	return err == nil && (n == 80 || n == 443 || n > 1023)
}

func (c *Client) schemes() string {
	if c.opt.Plain {
		return "an http or https address"
	}
	return "an https address"
}

// dialed is the guard of the dialer: it sees each address that is about to be
// connected to.
func (c *Client) dialed(network, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil || !c.port(port) {
		return errPlace
	}
	if c.guard.Safe(network, address, nil) != nil {
		return errPlace
	}
	return nil
}
