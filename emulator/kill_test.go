package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/firestore"
	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/sethvargo/go-envconfig"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// asProgram makes this test binary the emulator.
const asProgram = "EMULATOR_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process starts the emulator as a process of its own and returns it with the
// addresses that it prints.
func process(t *testing.T, args ...string) (*exec.Cmd, map[string]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := exec.CommandContext(t.Context(), self, append(args, anyPorts...)...)
	p.Env = append(os.Environ(), asProgram+"=1")
	var errs bytes.Buffer
	p.Stderr = &errs
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait() // it may have been waited for
	})
	at := map[string]string{}
	for r := bufio.NewReader(out); len(at) < 5; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the emulator ended: %s", &errs)
		}
		name, address, _ := strings.Cut(line, " ")
		at[name] = strings.TrimSpace(address)
	}
	return p, at
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // a client may have closed it
	return conn
}

// TestKill kills the whole system and starts it again on the same data.
func TestKill(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p, at := process(t, "-data", data)
	store, err := firestore.NewClient(t.Context(), "truecost", option.WithGRPCConn(dial(t, at["firestore"])))
	if err != nil {
		t.Fatal(err)
	}
	written, err := store.Doc("notes/1").Set(t.Context(), map[string]any{"text": "kept"})
	if err != nil {
		t.Fatal(err)
	}
	const topic, sub = "projects/truecost/topics/notes", "projects/truecost/subscriptions/notes"
	bus, err := client.NewClient(t.Context(), "truecost", option.WithGRPCConn(dial(t, at["pubsub"])))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topic}); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.SubscriptionAdminClient.CreateSubscription(t.Context(), &pubsubpb.Subscription{Name: sub, Topic: topic}); err != nil {
		t.Fatal(err)
	}
	id, err := bus.Publisher(topic).Publish(t.Context(), &client.Message{Data: []byte("kept too")}).Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // it was killed

	_, at = process(t, "-data", data)
	if store, err = firestore.NewClient(t.Context(), "truecost", option.WithGRPCConn(dial(t, at["firestore"]))); err != nil {
		t.Fatal(err)
	}
	doc, err := store.Doc("notes/1").Get(t.Context())
	if err != nil || doc.Data()["text"] != "kept" || !doc.UpdateTime.Equal(written.UpdateTime) {
		t.Errorf("notes/1 after the kill = %v, %v, want it as of %v", doc, err, written.UpdateTime)
	}
	res, err := pubsubpb.NewSubscriberClient(dial(t, at["pubsub"])).Pull(t.Context(), &pubsubpb.PullRequest{Subscription: sub, MaxMessages: 10})
	if err != nil || len(res.ReceivedMessages) != 1 || res.ReceivedMessages[0].Message.MessageId != id {
		t.Errorf("pulled after the kill: %v, %v, want message %s", res, err, id)
	}
}

func TestDataThatIsNoDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), append([]string{"-data", file}, anyPorts...), envconfig.MapLookuper(nil), &out, &errs)
	if code != 1 || !strings.Contains(errs.String(), file) {
		t.Errorf("run(-data FILE) = %d %q, want 1 and the file's name", code, &errs)
	}
}
