package pubsub_test

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

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/pubsub"
)

// The variables that make this test binary a process that publishes and
// acknowledges until it is killed.
const (
	killDirEnv   = "PUBSUB_KILL_DIR"
	killRoundEnv = "PUBSUB_KILL_ROUND"
)

// smallLog makes snapshots so frequent that a process is killed within them too.
const smallLog = 16 << 10

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDirEnv); dir != "" {
		if err := workUntilKilled(dir, os.Getenv(killRoundEnv)); err != nil {
			fmt.Println("error", err)
		}
		return
	}
	os.Exit(m.Run())
}

// A worker publishes or acknowledges, and prints what was answered.
type worker struct {
	publisher  pubsubpb.PublisherClient
	subscriber pubsubpb.SubscriberClient
}

func workUntilKilled(dir, round string) error {
	server, err := pubsub.Open(dir, pubsub.Options{Compact: smallLog})
	if err != nil {
		return err
	}
	ctx := context.Background()
	conn, err := server.Dial(ctx)
	if err != nil {
		return err
	}
	w := worker{pubsubpb.NewPublisherClient(conn), pubsubpb.NewSubscriberClient(conn)}
	if _, err := w.publisher.CreateTopic(ctx, &pubsubpb.Topic{Name: topic}); err != nil && status.Code(err) != codes.AlreadyExists {
		return err
	}
	_, err = w.subscriber.CreateSubscription(ctx, &pubsubpb.Subscription{Name: subName, Topic: topic})
	if err != nil && status.Code(err) != codes.AlreadyExists {
		return err
	}
	var workers sync.WaitGroup
	for k := range 3 {
		workers.Go(func() {
			for i := 0; ; i++ {
				if err := w.publish(ctx, fmt.Sprintf("%s-%d-%d", round, k, i)); err != nil {
					fmt.Println("error", err)
					return
				}
			}
		})
	}
	workers.Go(func() {
		for {
			if err := w.acknowledge(ctx); err != nil {
				fmt.Println("error", err)
				return
			}
		}
	})
	workers.Wait()
	return nil
}

func (w worker) publish(ctx context.Context, data string) error {
	_, err := w.publisher.Publish(ctx, &pubsubpb.PublishRequest{Topic: topic, Messages: []*pubsubpb.PubsubMessage{{Data: []byte(data)}}})
	if err == nil {
		fmt.Println("published", data)
	}
	return err
}

// acknowledge pulls some messages and acknowledges one of them. It says so
// before and after; what the kill comes between may be delivered again or not.
func (w worker) acknowledge(ctx context.Context) error {
	res, err := w.subscriber.Pull(ctx, &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 3})
	if err != nil || len(res.ReceivedMessages) == 0 {
		return err
	}
	m := res.ReceivedMessages[0]
	fmt.Println("acknowledging", string(m.Message.Data))
	_, err = w.subscriber.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: subName, AckIds: []string{m.AckId}})
	if err == nil {
		fmt.Println("acknowledged", string(m.Message.Data))
	}
	return err
}

// TestKill kills a process that publishes and acknowledges, at a random moment,
// several times over the same directory. A message that was published and whose
// acknowledgement was not asked for is there; one whose acknowledgement was
// answered is not.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	said := map[string]string{} // the last word on each message
	for round := range 8 {
		killRound(t, dir, round, 1+random.IntN(500), said)
		checkKilled(t, dir, said)
	}
	t.Logf("%d messages published before 8 kills", len(said))
}

// killRound runs a process until it has said so much, kills it while more is
// under way and notes what it said.
func killRound(t *testing.T, dir string, round, lines int, said map[string]string) {
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
	r := bufio.NewReader(out)
	for n := 0; ; n++ {
		if n == lines {
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break // what was printed before the kill is read too
		}
		word, data, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "published":
			if said[data] == "" { // it may be delivered before the publisher says so
				said[data] = word
			}
		case "acknowledging", "acknowledged":
			said[data] = word
		default:
			_ = p.Process.Kill()
			t.Fatalf("the process said %q", line)
		}
	}
	_ = p.Wait() // it was killed
}

func checkKilled(t *testing.T, dir string, said map[string]string) {
	t.Helper()
	s, err := pubsub.Open(dir, pubsub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	there := map[string]int{}
	for _, m := range s.Messages() {
		there[string(m.Data)]++
	}
	for data, word := range said {
		switch n := there[data]; {
		case word == "published" && n != 1:
			t.Errorf("%s was published and is there %d times", data, n)
		case word == "acknowledged" && n != 0:
			t.Errorf("%s was acknowledged and is there", data)
		}
	}
}
