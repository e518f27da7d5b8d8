package firestore_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// official starts the official emulator and connects to it. It skips the test
// where the emulator is not installed.
func official(t *testing.T) *grpc.ClientConn {
	t.Helper()
	if testing.Short() {
		t.Skip("official emulators are slow to start: skipped")
	}
	gcloud, err := exec.LookPath("gcloud")
	if err == nil {
		gcloud, err = filepath.EvalSymlinks(gcloud)
	}
	_, noJava := exec.LookPath("java")
	jars, _ := filepath.Glob(filepath.Join(filepath.Dir(gcloud), "..", "platform", "cloud-firestore-emulator", "*.jar"))
	if err != nil || noJava != nil || len(jars) == 0 {
		t.Skip("official emulators not installed: skipped")
	}
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), gcloud, "emulators", "firestore", "start", "--host-port="+address, "--quiet")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // gcloud starts a shell that starts Java
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the official emulator: %v", err)
	}
	t.Cleanup(func() { // the context of the test has ended, so Cancel runs
		_ = cmd.Wait()
	})
	awaitReady(t, "http://"+address+"/")
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// awaitReady asks until the emulator answers.
func awaitReady(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the official emulator did not answer: %v", err)
		}
	}
}
