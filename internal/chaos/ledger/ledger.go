// Package ledger is the book of agents that are killed: what they did, in the
// order they did it, in a file that outlives them.
//
//	boot    a process begins
//	asked   a message came
//	begin   the work on a call begins
//	paid    the result was bought: on the disk before anybody hears of it
//	stored  the task store has the result
//
// A call may be paid for again only where a process died between paid and
// stored.
package ledger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Kind of an entry.
type Kind string

// The kinds.
const (
	Boot   Kind = "boot"
	Asked  Kind = "asked"
	Begin  Kind = "begin"
	Paid   Kind = "paid"
	Stored Kind = "stored"
)

// Entry is one line.
type Entry struct {
	Kind  Kind   `json:"kind"`
	Boot  int    `json:"boot"` // which process, from 1
	Agent string `json:"agent,omitempty"`
	Call  string `json:"call,omitempty"`
}

// Ledger is an open book. It is safe for concurrent use.
type Ledger struct {
	mu    sync.Mutex // guards all
	file  *os.File
	boot  int
	begun map[string]int // by call
}

// Open opens the book at a path, or begins it, and enters a boot.
func Open(path string) (*Ledger, error) {
	entries, err := Read(path)
	if err != nil {
		return nil, err
	}
	l := &Ledger{boot: 1, begun: map[string]int{}}
	for _, e := range entries {
		switch e.Kind {
		case Boot:
			l.boot++
		case Begin:
			l.begun[e.Call]++
		default:
		}
	}
	if l.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil { //nolint:gosec // G304: the caller's own file
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	// A line that the process before was killed over ends here.
	if _, err := l.file.WriteString("\n"); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	return l, l.enter(Boot, "", "")
}

// Asked enters a message.
func (l *Ledger) Asked(agent, call string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enter(Asked, agent, call)
}

// Begin enters the beginning of work and returns how often the call was begun
// before, by any process.
func (l *Ledger) Begin(agent, call string) (before int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before = l.begun[call]
	l.begun[call]++
	return before, l.enter(Begin, agent, call)
}

// Paid enters a payment and returns when it is on the disk.
func (l *Ledger) Paid(agent, call string) error {
	l.mu.Lock()
	err := l.enter(Paid, agent, call)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return l.file.Sync()
}

// Stored enters that the task store has the result.
func (l *Ledger) Stored(agent, call string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enter(Stored, agent, call)
}

// enter appends a line in one write, which a kill does not undo.
func (l *Ledger) enter(kind Kind, agent, call string) error {
	line, err := json.Marshal(Entry{kind, l.boot, agent, call})
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
}

// Close closes the book.
func (l *Ledger) Close() error { return l.file.Close() }

// Read returns the entries at a path, none where there is no file. The last line
// of a process may be cut off and is left out.
func Read(path string) ([]Entry, error) {
	f, err := os.Open(path) //nolint:gosec // G304: the caller's own file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	var entries []Entry
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			entries = append(entries, e)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return entries, nil
}
