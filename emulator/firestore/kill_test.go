package firestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/emulator/firestore/firestoretest"
)

// The variables that make this test binary a process that commits until it is
// killed.
const (
	killDirEnv   = "FIRESTORE_KILL_DIR"
	killRoundEnv = "FIRESTORE_KILL_ROUND"
)

// smallLog makes snapshots so frequent that a process is killed within them too.
const smallLog = 32 << 10

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDirEnv); dir != "" {
		if err := commitUntilKilled(dir, os.Getenv(killRoundEnv)); err != nil {
			fmt.Println("error", err)
		}
		return
	}
	os.Exit(m.Run())
}

// commitUntilKilled commits from several callers at once and prints a line for
// each commit that was answered.
func commitUntilKilled(dir, round string) error {
	server, err := fsemu.Open(dir, fsemu.Options{Compact: smallLog})
	if err != nil {
		return err
	}
	ctx := context.Background()
	conn, err := server.Dial(ctx)
	if err != nil {
		return err
	}
	c, err := firestore.NewClient(ctx, firestoretest.Project, option.WithGRPCConn(conn))
	if err != nil {
		return err
	}
	var callers sync.WaitGroup
	for k := range 4 {
		callers.Go(func() {
			for i := 0; ; i++ {
				if err := commitOne(ctx, c, fmt.Sprintf("%s-%d-%d", round, k, i)); err != nil {
					fmt.Println("error", err)
					return
				}
			}
		})
	}
	callers.Wait()
	return nil
}

// commitOne is one commit of two new documents and a third that is rewritten. It
// prints its id, its time and a later time that was handed out to a reader.
func commitOne(ctx context.Context, c *firestore.Client, id string) error {
	content := map[string]any{"text": strings.Repeat(id, 50)}
	var answer firestore.CommitResponse
	err := c.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		return errors.Join(tx.Set(c.Doc("left/"+id), content), tx.Set(c.Doc("right/"+id), content), tx.Set(c.Doc("last/one"), content))
	}, firestore.WithCommitResponseTo(&answer))
	if err != nil {
		return err
	}
	doc, err := c.Doc("last/one").Get(ctx)
	if err != nil {
		return err
	}
	fmt.Println("ack", id, answer.CommitTime().UnixMicro(), doc.ReadTime.UnixMicro())
	return nil
}

// TestKill kills a process that commits, at a random moment, several times over
// the same directory: every commit that was answered is there whole, with its
// time, and no half of any other.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	acked := map[string]int64{}
	var latest int64
	for round := range 8 {
		latest = max(latest, killRound(t, dir, round, 1+random.IntN(300), acked))
		latest = checkKilled(t, dir, acked, latest)
	}
	t.Logf("%d commits answered before 8 kills", len(acked))
}

// killRound runs a process until it has answered so many commits, kills it while
// the next are under way and adds to acked what it had answered. It returns the latest time handed out.
func killRound(t *testing.T, dir string, round, commits int, acked map[string]int64) (latest int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := exec.CommandContext(t.Context(), self)
	p.Env = append(os.Environ(), killDirEnv+"="+dir, killRoundEnv+"="+strconv.Itoa(round))
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for n := 0; ; n++ {
		if n == commits {
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break // what was printed before the kill is read too
		}
		var id string
		var at, read int64
		if _, err := fmt.Sscanf(line, "ack %s %d %d", &id, &at, &read); err != nil {
			_ = p.Process.Kill()
			t.Fatalf("the process said %q", line)
		}
		acked[id] = at
		latest = max(latest, at, read)
	}
	_ = p.Wait() // it was killed
	return latest
}

// checkKilled opens what was left behind, compares it with what was answered, and
// commits once. It returns the time of that.
func checkKilled(t *testing.T, dir string, acked map[string]int64, latest int64) int64 {
	t.Helper()
	server, err := fsemu.Open(dir, fsemu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := firestoretest.Connect(t, server)
	half := map[string]string{}
	for _, side := range []string{"left", "right"} {
		docs, err := c.Collection(side).Documents(t.Context()).GetAll()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, d := range docs {
			found[d.Ref.ID] = true
			half[d.Ref.ID] += side
			if want, ok := acked[d.Ref.ID]; ok && d.UpdateTime.UnixMicro() != want {
				t.Errorf("%s was updated at %d, answered was %d", d.Ref.ID, d.UpdateTime.UnixMicro(), want)
			}
			if d.Data()["text"] != strings.Repeat(d.Ref.ID, 50) {
				t.Errorf("%s has the content %v", d.Ref.Path, d.Data())
			}
		}
		for id := range acked {
			if !found[id] {
				t.Errorf("%s/%s was answered and is gone", side, id)
			}
		}
	}
	for id, sides := range half {
		if sides != "leftright" {
			t.Errorf("of commit %s only %s is there", id, sides)
		}
	}
	res, err := c.Doc("check/time").Set(t.Context(), map[string]any{"n": len(acked)})
	if err != nil {
		t.Fatal(err)
	}
	at := res.UpdateTime.UnixMicro()
	if at <= latest {
		t.Errorf("commit after the kill at %d, want later than %d, which was handed out", at, latest)
	}
	return at
}
