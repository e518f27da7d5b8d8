package journal

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
)

// defaultCompact is how many bytes of log are worth a snapshot.
const defaultCompact = 16 << 20

// Options of a journal.
type Options struct {
	// Kind says whose records these are; a directory of another kind is refused.
	Kind string

	// Compact is how many bytes of log make Due true; 0 is 16 MiB. A snapshot
	// larger than that waits for as much log as it has bytes itself.
	Compact int64

	// Report is told why a snapshot could not be written, which costs space and no
	// record; nil is not told.
	Report func(error)
}

// A Journal is an open journal. Its methods are safe for concurrent use. The nil
// Journal keeps nothing and never fails.
type Journal struct {
	dir    string
	o      Options
	lock   *os.File
	writer sync.WaitGroup // of a snapshot

	mu       sync.Mutex // guards the rest
	file     *os.File   // the last log
	number   uint64     // of the last log
	size     int64      // of the last log
	snapshot int64      // bytes of the last snapshot
	writing  bool       // a snapshot
	buffer   []byte     // of frames
	broken   error      // why nothing can be appended any more
}

// Append adds a record, which must not be empty, and returns when it survives
// the end of the process. After an error nothing can be appended any more:
// whether the record is there shows only when the journal is opened again.
func (j *Journal) Append(record []byte) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(record); n == 0 || n > maxRecord {
		return fmt.Errorf("a record has %d bytes: it must have 1 to %d", n, maxRecord)
	}
	return j.write(record)
}

// write appends the frame of a record; an empty one is the end mark. The caller
// holds mu.
func (j *Journal) write(record []byte) error {
	if j.broken != nil {
		return j.broken
	}
	j.buffer = appendFrame(j.buffer[:0], record)
	n, err := j.file.Write(j.buffer)
	j.size += int64(n)
	if err != nil {
		j.broken = fmt.Errorf("the journal takes no more records: %w", err)
	}
	if cap(j.buffer) > 1<<20 {
		j.buffer = nil // one large record is no reason to keep so much
	}
	return j.broken
}

// Due tells whether it is time for Compact.
func (j *Journal) Due() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.writing && j.broken == nil && j.size >= max(j.o.Compact, j.snapshot)
}

// Compact begins a new log and writes state, the records that stand for all
// before it, to a snapshot in the background. State must be what the records
// appended so far lead to and stay so: the owner calls Compact where it calls
// Append, and hands over a copy. An error in it ends the snapshot, and the logs
// stay. One snapshot is written at a time; while it is, Compact does nothing.
func (j *Journal) Compact(state iter.Seq2[[]byte, error]) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.writing || j.broken != nil {
		return j.broken
	}
	if err := j.rotate(); err != nil {
		j.broken = fmt.Errorf("the journal takes no more records: %w", err)
		return j.broken
	}
	j.writing = true
	number := j.number
	j.writer.Go(func() {
		size, err := j.writeSnapshot(number, state)
		if err != nil && j.o.Report != nil {
			j.o.Report(fmt.Errorf("write a snapshot of the journal in %s: %w", j.dir, err))
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.writing = false
		if err == nil {
			j.snapshot = size
		}
	})
	return nil
}

// rotate ends the log and begins the next. The caller holds mu.
func (j *Journal) rotate() error {
	if err := j.write(nil); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	next, size, err := j.createLog(j.number + 1)
	if err != nil {
		return err
	}
	err = j.file.Close()
	j.file, j.size = next, size
	j.number++
	return err
}

// Close waits for a snapshot under way, syncs the log and lets another process
// open the journal. Nothing can be appended any more.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.writer.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.broken, os.ErrClosed) {
		return nil
	}
	j.broken = fmt.Errorf("append to the journal in %s: %w", j.dir, os.ErrClosed)
	return errors.Join(j.file.Sync(), j.file.Close(), unlock(j.lock))
}
