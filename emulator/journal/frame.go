package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

const (
	magic     = "truecost journal "
	version   = "1"
	maxHead   = 128 // bytes of the first line
	frameHead = 12
	maxRecord = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// DamageError is a file that is not as it was written.
type DamageError struct {
	File   string
	Offset int64 // of the frame, in bytes
	What   string
}

// Error implements error.
func (d *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %s", d.File, d.Offset, d.What)
}

// head returns the first line of a file.
func head(kind string) string { return magic + version + " " + kind + "\n" }

// appendFrame appends the frame of a record.
func appendFrame(b, record []byte) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(record)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(record, castagnoli))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
	return append(b, record...)
}

// A scanner reads a file of size bytes.
type scanner struct {
	r    *bufio.Reader
	name string
	size int64
	at   int64 // the first byte that was not read

	intact int64 // behind the last whole frame
	ended  bool  // the end mark was read
}

// newScanner reads the first line. It returns a DamageError for a file that is no
// journal, and an error for one of another version or kind.
func newScanner(r io.Reader, size int64, name, kind string) (*scanner, error) {
	s := &scanner{r: bufio.NewReaderSize(r, 1<<16), name: name, size: size}
	start, err := s.r.Peek(int(min(maxHead, size)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	line, _, whole := strings.Cut(string(start), "\n")
	rest, ours := strings.CutPrefix(line, magic)
	if !whole || !ours {
		return nil, s.damage("it does not begin as a journal does")
	}
	if v, k, _ := strings.Cut(rest, " "); v != version {
		return nil, fmt.Errorf("%s has version %q of the format: this program knows %s", name, v, version)
	} else if k != kind {
		return nil, fmt.Errorf("%s is a journal of %q, not of %q", name, k, kind)
	}
	n, _ := s.r.Discard(len(line) + 1) // it was peeked at
	s.at, s.intact = int64(n), int64(n)
	return s, nil
}

func (s *scanner) damage(what string) error {
	return &DamageError{File: s.name, Offset: s.intact, What: what}
}

// errTorn is the end of a file within a frame.
var errTorn = errors.New("the file ends within a record")

// next returns the next record, valid as long as the caller keeps it. At the
// end of the file or after the end mark it returns io.EOF, and errTorn where the
// file ends too early. Intact is then where it should end.
func (s *scanner) next() ([]byte, error) {
	if s.ended {
		if s.at < s.size {
			return nil, s.damage("there is more behind the end")
		}
		return nil, io.EOF
	}
	left := s.size - s.at
	if left == 0 {
		return nil, io.EOF
	}
	if left < frameHead {
		return nil, errTorn
	}
	var h [frameHead]byte
	if err := s.read(h[:]); err != nil {
		return nil, err
	}
	length, sum := int64(binary.LittleEndian.Uint32(h[:])), binary.LittleEndian.Uint32(h[4:])
	switch {
	case crc32.Checksum(h[:8], castagnoli) != binary.LittleEndian.Uint32(h[8:]):
		return nil, s.damage("the checksum of a record's head is wrong")
	case length > s.size-s.at:
		return nil, errTorn
	}
	record := make([]byte, length)
	if err := s.read(record); err != nil {
		return nil, err
	}
	if crc32.Checksum(record, castagnoli) != sum {
		return nil, s.damage("the checksum of a record is wrong")
	}
	s.intact = s.at
	if length == 0 {
		s.ended = true
		return s.next()
	}
	return record, nil
}

func (s *scanner) read(b []byte) error {
	n, err := io.ReadFull(s.r, b)
	s.at += int64(n)
	if err != nil {
		return fmt.Errorf("read %s at byte %d: %w", s.name, s.at, err)
	}
	return nil
}
