package journal

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// opened opens a journal of kind "test" and returns it with its records.
func opened(tb testing.TB, dir string, o Options) (*Journal, []string) {
	tb.Helper()
	j, records, err := open(dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = j.Close() }) // the test may have closed it
	return j, records
}

func open(dir string, o Options) (*Journal, []string, error) {
	var records []string
	o.Kind = "test"
	j, err := Open(dir, o, func(b []byte) error {
		records = append(records, string(b))
		return nil
	})
	return j, records, err
}

func appendAll(tb testing.TB, j *Journal, records ...string) {
	tb.Helper()
	for _, r := range records {
		if err := j.Append([]byte(r)); err != nil {
			tb.Fatal(err)
		}
	}
}

func closed(tb testing.TB, j *Journal) {
	tb.Helper()
	if err := j.Close(); err != nil {
		tb.Fatal(err)
	}
}

// killed returns a copy of a directory: what another process finds when the one
// that has it open is killed.
func killed(tb testing.TB, dir string) string {
	tb.Helper()
	after := filepath.Join(tb.TempDir(), "after")
	if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	return after
}

func of(records ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range records {
			if !yield([]byte(r), nil) {
				return
			}
		}
	}
}

const firstLog = "0000000001.log"

func TestRecordsComeBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "directory")
	j, got := opened(t, dir, Options{})
	if len(got) != 0 {
		t.Errorf("a new journal has %q", got)
	}
	appendAll(t, j, "a", "b", strings.Repeat("c", 2<<20))
	if _, _, err := open(dir, Options{}); err == nil || !strings.Contains(err.Error(), dir+" is in use by another process") {
		t.Errorf("a second Open = %v, want it refused", err)
	}
	j2, got := opened(t, killed(t, dir), Options{})
	if want := []string{"a", "b", strings.Repeat("c", 2<<20)}; !slices.Equal(got, want) {
		t.Errorf("%d records after a kill, want %d", len(got), len(want))
	}
	closed(t, j2)
	if err := j2.Append([]byte("d")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Append after Close = %v, want %v", err, os.ErrClosed)
	}
	if err := j2.Close(); err != nil {
		t.Errorf("a second Close = %v", err)
	}
	if err := j.Append(nil); err == nil {
		t.Error("Append of an empty record succeeded: it is the end mark")
	}
}

// TestEveryCut cuts a log at every byte: the whole records before come back,
// and what is appended afterwards follows them.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, _ := opened(t, dir, Options{})
	ends := []int64{j.size}
	records := []string{"first", "second", "third"}
	for _, r := range records {
		appendAll(t, j, r)
		ends = append(ends, j.size)
	}
	whole, err := os.ReadFile(filepath.Join(dir, firstLog))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range int64(len(whole) + 1) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, firstLog), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		n := len(ends) - 1
		for n >= 0 && ends[n] > cut {
			n--
		}
		j, got, err := open(dir, Options{})
		if n < 0 { // within the first line, which is there before the file is
			if d, ok := errors.AsType[*DamageError](err); !ok || d.Offset != 0 {
				t.Errorf("cut at %d: Open = %v, want damage at 0", cut, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, records[:n]) {
			t.Errorf("cut at %d: Open = %q, %v, want %q", cut, got, err, records[:n])
			continue
		}
		appendAll(t, j, "more")
		closed(t, j)
		j, got = opened(t, dir, Options{})
		if want := append(slices.Clone(records[:n]), "more"); !slices.Equal(got, want) {
			t.Errorf("cut at %d, and appended to: %q, want %q", cut, got, want)
		}
		closed(t, j)
	}
}

// TestEveryFlip changes every byte of a log in turn: none of it goes unnoticed.
func TestEveryFlip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, _ := opened(t, dir, Options{})
	appendAll(t, j, "first", "second", "third")
	closed(t, j)
	path := filepath.Join(dir, firstLog)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1 << bit
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			j, got, err := open(dir, Options{})
			if err == nil {
				closed(t, j)
				t.Fatalf("bit %d of byte %d flipped: Open = %q without an error", bit, at, got)
			}
			if !strings.Contains(err.Error(), path) {
				t.Errorf("byte %d flipped: %v does not name the file", at, err)
			}
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	frames := func(records ...string) string {
		var b []byte
		for _, r := range records {
			b = appendFrame(b, []byte(r))
		}
		return head("test") + string(b)
	}
	second := int64(len(frames("one")))
	broken := []byte(frames("one", "two", "three"))
	broken[second+frameHead] ^= 1
	tests := []struct {
		name   string
		files  map[string]string
		damage int64 // the offset, or -1 for an error of another sort
		want   string
	}{
		{"a flipped byte in the middle", map[string]string{firstLog: string(broken)}, second, "the checksum of a record is wrong"},
		{"no journal", map[string]string{firstLog: "hello\n"}, 0, "it does not begin as a journal does"},
		{"an empty file", map[string]string{firstLog: ""}, 0, "it does not begin as a journal does"},
		{"another version", map[string]string{firstLog: "truecost journal 2 test\n"}, -1, `has version "2" of the format: this program knows 1`},
		{"another kind", map[string]string{firstLog: "truecost journal 1 pubsub\n"}, -1, `is a journal of "pubsub", not of "test"`},
		{"behind the end", map[string]string{firstLog: frames("one", "", "two")}, second + frameHead, "there is more behind the end"},
		{"a log in the middle without an end", map[string]string{firstLog: frames("one"), "0000000002.log": frames("two")}, second, "it has no end, and another log follows"},
		{"a missing log", map[string]string{firstLog: frames("one", ""), "0000000003.log": frames("two")}, -1, "0000000002.log is missing"},
		{"a missing first log", map[string]string{"0000000002.log": frames("two")}, -1, "0000000001.log is missing"},
		{"a snapshot without its log", map[string]string{"0000000002.snapshot": frames("one", "")}, -1, "0000000002.log is missing"},
		{"a snapshot without an end", map[string]string{"0000000002.snapshot": frames("one"), "0000000002.log": frames("two")}, second, "it has no end"},
		{"a record that the owner refuses", map[string]string{firstLog: frames("one", "bad")}, second, "it is bad"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(dir, Options{Kind: "test"}, func(b []byte) error {
				if string(b) == "bad" {
					return errors.New("it is bad")
				}
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Open = %v, want %q", err, tt.want)
			}
			d, ok := errors.AsType[*DamageError](err)
			if ok != (tt.damage >= 0) || ok && (d.Offset != tt.damage || !strings.HasPrefix(d.File, dir)) {
				t.Errorf("Open = %v, want damage at byte %d", err, tt.damage)
			}
		})
	}
}

// TestCrashDuringCompaction opens what each step of a compaction leaves behind.
func TestCrashDuringCompaction(t *testing.T) {
	t.Parallel()
	frames := func(records ...string) string {
		var b []byte
		for _, r := range records {
			b = appendFrame(b, []byte(r))
		}
		return head("test") + string(b)
	}
	const log2, snapshot2 = "0000000002.log", "0000000002.snapshot"
	ended, next, snapshot := frames("a", "b", ""), frames("c"), frames("ab", "")
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"within the end mark", map[string]string{firstLog: ended[:len(ended)-1]}, []string{"a", "b"}},
		{"before the next log", map[string]string{firstLog: ended}, []string{"a", "b"}},
		{"within the next log's making", map[string]string{firstLog: ended, log2 + newSuffix: next[:5]}, []string{"a", "b"}},
		{"before the snapshot", map[string]string{firstLog: ended, log2: next}, []string{"a", "b", "c"}},
		{"within the snapshot", map[string]string{firstLog: ended, log2: next, snapshot2 + newSuffix: snapshot[:30]}, []string{"a", "b", "c"}},
		{"before the old log is deleted", map[string]string{firstLog: ended, log2: next, snapshot2: snapshot}, []string{"ab", "c"}},
		{"before an old snapshot is deleted", map[string]string{"0000000001.snapshot": frames("x", ""), log2: next, snapshot2: snapshot}, []string{"ab", "c"}},
		{"after it", map[string]string{log2: next, snapshot2: snapshot}, []string{"ab", "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			j, got := opened(t, dir, Options{})
			if !slices.Equal(got, tt.want) {
				t.Errorf("Open = %q, want %q", got, tt.want)
			}
			appendAll(t, j, "later")
			closed(t, j)
			if _, got = opened(t, dir, Options{}); !slices.Equal(got, append(tt.want, "later")) {
				t.Errorf("opened again = %q, want %q and later", got, tt.want)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "*"+newSuffix)); err != nil || len(left) > 0 {
				t.Errorf("%q are left, %v", left, err)
			}
		})
	}
}

func TestASnapshotThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, _ := opened(t, dir, Options{})
	appendAll(t, j, "a")
	if err := j.Compact(func(yield func([]byte, error) bool) { yield(nil, errors.New("no")) }); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, "b")
	closed(t, j)
	if _, got := opened(t, dir, Options{}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Open = %q, want a and b", got)
	}
}

func TestAFullDiskIsRemembered(t *testing.T) {
	t.Parallel()
	j, _ := opened(t, t.TempDir(), Options{})
	appendAll(t, j, "a")
	if err := j.file.Close(); err != nil { // as good as a disk that takes nothing
		t.Fatal(err)
	}
	first := j.Append([]byte("b"))
	if second := j.Append([]byte("c")); first == nil || !errors.Is(second, first) || j.Due() {
		t.Errorf("Append = %v, then %v, due %t; want one lasting error", first, second, j.Due())
	}
}

func TestCompactionBoundsTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, _ := opened(t, dir, Options{Compact: 1000})
	for i := range 2000 {
		appendAll(t, j, fmt.Sprint(i))
		if j.Due() {
			if err := j.Compact(of(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			j.writer.Wait()
		}
	}
	closed(t, j)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if len(entries) != 3 || size > 1200 {
		t.Errorf("%d files of %d bytes are left, want a lock, a snapshot and a log of 1,000", len(entries), size)
	}
	_, got := opened(t, dir, Options{})
	if got[len(got)-1] != "1999" {
		t.Errorf("the last record is %q, want 1999", got[len(got)-1])
	}
}

// TestAnyHistory appends, compacts, closes and is killed at random: what comes
// back is always what was appended.
func TestAnyHistory(t *testing.T) {
	t.Parallel()
	base, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, strconv.Itoa(n))
		j, got, err := open(dir, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		var want []string
		reopen := func() {
			if j, got, err = open(dir, Options{}); err != nil {
				rt.Fatal(err)
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("records = %q, want %q", got, want)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				r := rapid.StringN(1, 20, -1).Draw(rt, "record")
				if err := j.Append([]byte(r)); err != nil {
					rt.Fatal(err)
				}
				want = append(want, r)
			},
			"compact": func(rt *rapid.T) {
				if err := j.Compact(of(slices.Clone(want)...)); err != nil {
					rt.Fatal(err)
				}
			},
			"close": func(rt *rapid.T) {
				if err := j.Close(); err != nil {
					rt.Fatal(err)
				}
				reopen()
			},
			"kill": func(*rapid.T) {
				j.writer.Wait() // files that vanish while they are copied are another matter
				after := dir + "x"
				if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
					rt.Fatal(err)
				}
				_ = j.Close() // the old one is of no interest any more
				dir = after
				reopen()
			},
		})
		_ = j.Close() // checked above often enough
	})
}

// FuzzScanner reads any bytes as a log: it never panics, and what it accepts is
// what writing the records gives.
func FuzzScanner(f *testing.F) {
	var b []byte
	for _, r := range []string{"a", "bc", ""} {
		b = appendFrame(b, []byte(r))
	}
	log := head("test") + string(b)
	for _, seed := range []string{"", log, log[:len(log)-1], head("other"), head("test") + strings.Repeat("\x00", 40)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := newScanner(bytes.NewReader(in), int64(len(in)), "log", "test")
		if err != nil {
			return
		}
		out := []byte(head("test"))
		_ = s.each(func(r []byte) error {
			out = appendFrame(out, r)
			return nil
		})
		if s.ended {
			out = appendFrame(out, nil)
		}
		if !bytes.Equal(out, in[:s.intact]) {
			t.Errorf("the records of %q are those of %q", in[:s.intact], out)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	j, _ := opened(b, b.TempDir(), Options{})
	record := bytes.Repeat([]byte("x"), 500)
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		if err := j.Append(record); err != nil {
			b.Fatal(err)
		}
	}
}
