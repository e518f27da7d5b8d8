package firestore

import (
	"bufio"
	"io"
	"net"
	"sync"
	"time"
)

// peekTimeout is how long a connection may take to say what it speaks.
const peekTimeout = 30 * time.Second

// preface is how HTTP/2 with prior knowledge begins, which gRPC clients use.
const preface = "PRI "

// splitter hands the connections of any number of listeners to one of two
// servers, by their first bytes.
type splitter struct {
	http2, http1 *handover
	wg           sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	closed  bool
	open    map[io.Closer]struct{} // listeners, and connections being peeked at
	started bool
	servers []func() // run from the first listener on, until their listeners end
}

func newSplitter(http2, http1 func(net.Listener) error) *splitter {
	p := &splitter{http2: newHandover(), http1: newHandover(), open: map[io.Closer]struct{}{}}
	p.servers = []func(){func() { _ = http2(p.http2) }, func() { _ = http1(p.http1) }}
	return p
}

// track remembers something that close must close, and runs what is given on a
// goroutine that close waits for. It reports false, and closes c at once, when
// the splitter is closed already.
func (p *splitter) track(c io.Closer, run func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.open[c] = struct{}{}
	if !p.started {
		p.started = true
		for _, server := range p.servers {
			p.wg.Go(server)
		}
	}
	if run != nil {
		p.wg.Go(run)
	}
	return true
}

func (p *splitter) untrack(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// start serves l on a goroutine of its own.
func (p *splitter) start(l net.Listener) error {
	if !p.track(l, func() { _ = p.accept(l) }) { // an in-memory listener fails only when closed
		return errClosed
	}
	return nil
}

// serve accepts from l until close, and then returns nil.
func (p *splitter) serve(l net.Listener) error {
	if !p.track(l, nil) {
		return nil
	}
	return p.accept(l)
}

func (p *splitter) accept(l net.Listener) error {
	defer p.untrack(l)
	for {
		c, err := l.Accept()
		if err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.closed {
				return nil
			}
			return err
		}
		p.track(c, func() { p.route(c) })
	}
}

// route reads the first bytes of c and hands it on with them put back.
func (p *splitter) route(c net.Conn) {
	defer p.untrack(c)
	r := bufio.NewReader(c)
	_ = c.SetReadDeadline(time.Now().Add(peekTimeout))
	head, err := r.Peek(len(preface))
	if err != nil {
		_ = c.Close()
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	to := p.http1
	if string(head) == preface {
		to = p.http2
	}
	to.give(&peeked{Conn: c, head: r})
}

// close stops accepting; the servers see their listeners end.
func (p *splitter) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		_ = c.Close()
	}
	_ = p.http2.Close()
	_ = p.http1.Close()
}

func (p *splitter) wait() { p.wg.Wait() }

// peeked is a connection of which the beginning has been read ahead.
type peeked struct {
	net.Conn
	head *bufio.Reader // nil once it is empty
}

// Read implements net.Conn.
func (c *peeked) Read(b []byte) (int, error) {
	if c.head == nil {
		return c.Conn.Read(b)
	}
	n, err := c.head.Read(b)
	if c.head.Buffered() == 0 {
		c.head = nil
	}
	return n, err
}

// handover is a listener whose connections come from elsewhere.
type handover struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newHandover() *handover {
	return &handover{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (h *handover) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.done:
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

// Addr implements net.Listener.
func (h *handover) Addr() net.Addr { return handoverAddr{} }

type handoverAddr struct{}

func (handoverAddr) Network() string { return "handover" }
func (handoverAddr) String() string  { return "firestore" }

var _ net.Listener = (*handover)(nil)
