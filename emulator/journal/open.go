package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Open opens the journal of a directory, which it makes when it is missing, and
// hands every record to replay in the order in which it was written; a record
// is replay's to keep. It returns a DamageError for a file that is not as it was
// written or that replay refuses, and an error when another process has the
// journal open, when a file is missing, or is of another version or kind.
func Open(dir string, o Options, replay func(record []byte) error) (*Journal, error) {
	if o.Compact == 0 {
		o.Compact = defaultCompact
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	held, err := lock(dir)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &Journal{dir: dir, o: o, lock: held}
	if err := j.load(replay); err != nil {
		if j.file != nil {
			_ = j.file.Close() // nothing was appended
		}
		_ = unlock(held) // the first error says more
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	return j, nil
}

// load replays the last snapshot and the logs since, and opens the last log.
func (j *Journal) load(replay func([]byte) error) error {
	logs, snapshots, err := list(j.dir)
	if err != nil {
		return err
	}
	first := uint64(1)
	if n := len(snapshots); n > 0 {
		first = snapshots[n-1]
		s, err := j.replay(first, snapshotSuffix, replay)
		if err != nil {
			return err
		}
		if !s.ended {
			return s.damage("it has no end")
		}
		if err := j.deleteBefore(first); err != nil { // a crash came between
			return err
		}
		j.snapshot = s.size
	}
	for len(logs) > 0 && logs[0] < first {
		logs = logs[1:]
	}
	if len(logs) == 0 && len(snapshots) == 0 {
		j.number = first
		j.file, j.size, err = j.createLog(first)
		return err
	}
	for i := range max(1, len(logs)) {
		if i >= len(logs) || logs[i] != first+uint64(i) {
			return fmt.Errorf("%s is missing", j.path(first+uint64(i), logSuffix))
		}
		if err := j.loadLog(logs[i], i == len(logs)-1, replay); err != nil {
			return err
		}
	}
	return nil
}

// loadLog replays a log. The last one is cut to its whole records and opened;
// when it was ended, the next one is begun, for a crash came between.
func (j *Journal) loadLog(number uint64, last bool, replay func([]byte) error) error {
	s, err := j.replay(number, logSuffix, replay)
	if err != nil {
		return err
	}
	j.number = number
	switch {
	case !last && !s.ended:
		return s.damage("it has no end, and another log follows")
	case !last:
		return nil
	case s.ended:
		j.number++
		j.file, j.size, err = j.createLog(j.number)
		return err
	}
	if j.file, j.size, err = openLog(s.name); err != nil || s.intact == j.size {
		return err
	}
	j.size = s.intact
	return errors.Join(j.file.Truncate(s.intact), j.file.Sync())
}

// replay hands the records of one file to visit. A torn end is no error here.
func (j *Journal) replay(number uint64, suffix string, visit func([]byte) error) (*scanner, error) {
	path := j.path(number, suffix)
	f, err := os.Open(path) //nolint:gosec // G304: the directory is the caller's to choose
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s, err := newScanner(f, info.Size(), path, j.o.Kind)
	if err != nil {
		return nil, err
	}
	return s, s.each(visit)
}

// each hands the records that are whole to visit.
func (s *scanner) each(visit func([]byte) error) error {
	for {
		at := s.intact
		record, err := s.next()
		if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(record); err != nil {
			return &DamageError{File: s.name, Offset: at, What: err.Error()}
		}
	}
}
