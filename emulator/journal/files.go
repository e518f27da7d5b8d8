package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The endings of file names.
const (
	logSuffix      = ".log"
	snapshotSuffix = ".snapshot"
	newSuffix      = ".new" // not finished, and worth nothing
)

func (j *Journal) path(number uint64, suffix string) string {
	return filepath.Join(j.dir, fmt.Sprintf("%010d%s", number, suffix))
}

// createLog makes an empty log that is there whole or not at all, and returns
// it with its size.
func (j *Journal) createLog(number uint64) (*os.File, int64, error) {
	path := j.path(number, logSuffix)
	if _, err := j.create(path, func(io.Writer) error { return nil }); err != nil {
		return nil, 0, err
	}
	return openLog(path)
}

// openLog opens a log to append to it.
func openLog(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0) //nolint:gosec // G304: the directory is the caller's to choose
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// writeSnapshot writes the state at the beginning of a log and deletes what it
// replaces. It returns its size in bytes.
func (j *Journal) writeSnapshot(number uint64, state iter.Seq2[[]byte, error]) (int64, error) {
	size, err := j.create(j.path(number, snapshotSuffix), func(w io.Writer) error {
		var frame []byte
		for record, err := range state {
			if err != nil {
				return err
			}
			frame = appendFrame(frame[:0], record)
			if _, err := w.Write(frame); err != nil {
				return err
			}
		}
		_, err := w.Write(appendFrame(nil, nil))
		return err
	})
	if err != nil {
		return 0, err
	}
	return size, j.deleteBefore(number)
}

// create makes a file by another name, syncs it and renames it.
func (j *Journal) create(path string, fill func(io.Writer) error) (size int64, err error) {
	f, err := os.OpenFile(path+newSuffix, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600) //nolint:gosec // G304: the directory is the caller's to choose
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<18)
	_, err = w.WriteString(head(j.o.Kind))
	if err == nil {
		err = fill(w)
	}
	err = errors.Join(err, w.Flush(), f.Sync())
	if info, statErr := f.Stat(); statErr == nil {
		size = info.Size()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(path+newSuffix, path); err != nil {
		return 0, err
	}
	return size, syncDir(j.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // G304: the directory is the caller's to choose
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// list returns the numbers of the logs and of the snapshots in a directory,
// ascending, and deletes what was not finished.
func list(dir string) (logs, snapshots []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), newSuffix) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, nil, err
			}
			continue
		}
		suffix := filepath.Ext(e.Name())
		number, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), suffix), 10, 64)
		if err != nil {
			continue // the lock
		}
		switch suffix {
		case logSuffix:
			logs = append(logs, number)
		case snapshotSuffix:
			snapshots = append(snapshots, number)
		}
	}
	slices.Sort(logs)
	slices.Sort(snapshots)
	return logs, snapshots, nil
}

// deleteBefore deletes the files that a snapshot replaces.
func (j *Journal) deleteBefore(number uint64) error {
	logs, snapshots, err := list(j.dir)
	if err != nil {
		return err
	}
	remove := func(numbers []uint64, suffix string) {
		for _, n := range numbers {
			if n < number {
				err = errors.Join(err, os.Remove(j.path(n, suffix)))
			}
		}
	}
	remove(logs, logSuffix)
	remove(snapshots, snapshotSuffix)
	return err
}
