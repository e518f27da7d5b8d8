package pubsub_test

import (
	"context"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/pubsub/pubsubtest"
)

// official starts the official emulator and returns a client of it. It skips
// the test where the emulator is not installed.
func official(t *testing.T) *client.Client {
	t.Helper()
	if testing.Short() {
		t.Skip("official emulators are slow to start: skipped")
	}
	gcloud, err := exec.LookPath("gcloud")
	if err == nil {
		gcloud, err = filepath.EvalSymlinks(gcloud)
	}
	_, noJava := exec.LookPath("java")
	jars, _ := filepath.Glob(filepath.Join(filepath.Dir(gcloud), "..", "platform", "pubsub-emulator", "lib", "*.jar"))
	if err != nil || noJava != nil || len(jars) == 0 {
		t.Skip("official emulators not installed: skipped")
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), gcloud, "beta", "emulators", "pubsub", "start",
		"--host-port="+address, "--project="+pubsubtest.Project, "--data-dir="+t.TempDir(), "--quiet")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // gcloud starts a shell that starts Java
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the official emulator: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the context of the test has ended, so Cancel runs
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewClient(t.Context(), pubsubtest.Project, option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ready, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := pubsubpb.NewPublisherClient(conn).ListTopics(ready, &pubsubpb.ListTopicsRequest{Project: "projects/truecost"}, grpc.WaitForReady(true)); err != nil {
		t.Fatalf("the official emulator did not answer: %v", err)
	}
	return c
}

// wipe deletes what the test before left.
func wipe(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, project := t.Context(), "projects/"+pubsubtest.Project
	subs := c.SubscriptionAdminClient.ListSubscriptions(ctx, &pubsubpb.ListSubscriptionsRequest{Project: project})
	for s, err := subs.Next(); err != iterator.Done; s, err = subs.Next() { //nolint:errorlint // the iterator's documented sentinel
		if err == nil {
			err = c.SubscriptionAdminClient.DeleteSubscription(ctx, &pubsubpb.DeleteSubscriptionRequest{Subscription: s.Name})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	topics := c.TopicAdminClient.ListTopics(ctx, &pubsubpb.ListTopicsRequest{Project: project})
	for s, err := topics.Next(); err != iterator.Done; s, err = topics.Next() { //nolint:errorlint // the iterator's documented sentinel
		if err == nil {
			err = c.TopicAdminClient.DeleteTopic(ctx, &pubsubpb.DeleteTopicRequest{Topic: s.Name})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
