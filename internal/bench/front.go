package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"cloud.google.com/go/firestore"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/api/option"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/shared/a2a/front"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/gcp/docstore"
)

// What one round of the fronts sends.
const (
	frontCallers  = 8
	frontRequests = 4000 // of all callers
	frontRounds   = 5
)

// fronts measures SendMessage of A2A 1.0 to an agent that completes at once:
// behind the bare server of the SDK with its store in memory, behind ours with
// its store in memory, and behind ours with the embedded Firestore, which is what
// durability costs. All three are served over HTTP in this process, in turns.
func fronts(ctx context.Context, t *tabwriter.Writer) error {
	durable, closed, err := embedded(ctx)
	if err != nil {
		return err
	}
	defer closed()
	handlers := []http.Handler{
		a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(bare{})),
		ours(tasktest.NewMemory(time.Now)),
		ours(durable),
	}
	rates, tails := make([][]float64, len(handlers)), make([][]time.Duration, len(handlers))
	for range frontRounds {
		for i, h := range handlers {
			rate, tail, err := load(ctx, h)
			if err != nil {
				return err
			}
			rates[i], tails[i] = append(rates[i], rate), append(tails[i], tail)
		}
	}
	sdkRate, sdkTail := median(rates[0]), median(tails[0])
	for i, name := range []string{1: "message/send, store in memory, beside the bare SDK", 2: "message/send, embedded Firestore, beside the bare SDK"} {
		if name == "" {
			continue
		}
		rate, tail := median(rates[i]), median(tails[i])
		fmt.Fprintf(t, "%s\t%.0f/s, p99 %.2f ms\t%.0f/s, p99 %.2f ms\t%.2f, %.2f\n", name,
			rate, ms(tail), sdkRate, ms(sdkTail), rate/sdkRate, ms(tail)/ms(sdkTail))
	}
	sdkBytes, sdkObjects := cost(ctx, handlers[0])
	size, objects := cost(ctx, handlers[1])
	fmt.Fprintf(t, "memory of one message/send, in memory\t%.1f kB, %.0f objects\t%.1f kB, %.0f objects\t%.2f, %.2f\n",
		size/1000, objects, sdkBytes/1000, sdkObjects, size/sdkBytes, objects/sdkObjects)
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// bare is the agent behind the SDK's server.
type bare struct{}

func (bare) Execute(_ context.Context, e *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		_ = yield(sdk.NewSubmittedTask(e, e.Message), nil) && yield(sdk.NewStatusUpdateEvent(e, sdk.TaskStateCompleted, nil), nil)
	}
}

func (bare) Cancel(context.Context, *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(func(sdk.Event, error) bool) {}
}

// ours is the same agent behind our front.
func ours(store interface {
	task.Store
	task.Finder
},
) http.Handler {
	log := slog.New(slog.DiscardHandler)
	desk := task.NewDesk(task.Agent{
		Name: "bare", Description: "completes", Version: "1.0.0",
		Skills:     []task.Skill{{AgentSkill: sdk.AgentSkill{ID: "bare", Name: "Bare", Description: "completes", Tags: []string{"test"}}}},
		InputModes: []string{"text/plain"}, OutputModes: []string{"text/plain"},
		Run: func(_ context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) {
				yield(sdk.NewStatusUpdateEvent(turn, sdk.TaskStateCompleted, nil), nil)
			}
		},
	}, task.Options{
		Store: func() (task.Store, error) { return store, nil }, Finder: func() (task.Finder, error) { return store, nil },
		Now: func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }, Log: log,
	})
	return front.NewHandler(desk, front.Options{Log: log})
}

func embedded(ctx context.Context) (*docstore.Tasks, func(), error) {
	server := fsemu.New(fsemu.Options{})
	conn, err := server.Dial(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("dial the store: %w", err)
	}
	client, err := firestore.NewClient(ctx, "bench", option.WithGRPCConn(conn))
	if err != nil {
		return nil, nil, fmt.Errorf("open the store: %w", err)
	}
	return docstore.NewTasks(client), func() {
		_ = client.Close() // the measurement is over
		_ = server.Close()
	}, nil
}

// load sends one round and returns the rate and the 99th percentile of latency.
func load(ctx context.Context, h http.Handler) (rate float64, tail time.Duration, err error) {
	server := httptest.NewServer(h)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: frontCallers}}
	defer client.CloseIdleConnections()
	runtime.GC() // what the round before left
	var (
		mu   sync.Mutex
		all  []time.Duration
		errs []error
		wait sync.WaitGroup
	)
	began := time.Now()
	for caller := range frontCallers {
		wait.Go(func() {
			took, err := calls(ctx, client, server.URL, caller)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	wait.Wait()
	if len(errs) > 0 {
		return 0, 0, errs[0]
	}
	elapsed := time.Since(began)
	slices.Sort(all)
	return float64(len(all)) / elapsed.Seconds(), all[len(all)*99/100], nil
}

func calls(ctx context.Context, client *http.Client, url string, caller int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, frontRequests/frontCallers)
	for i := range frontRequests / frontCallers {
		began := time.Now()
		resp, err := client.Do(messageRequest(ctx, url, fmt.Sprintf("c%d-%d", caller, i)))
		if err != nil {
			return nil, fmt.Errorf("send: %w", err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !bytes.Contains(body, []byte("TASK_STATE_COMPLETED")) {
			return nil, fmt.Errorf("the answer is %s: %w", body, err)
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

func messageRequest(ctx context.Context, url, id string) *http.Request {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "SendMessage", "params": map[string]any{
		"message": map[string]any{"messageId": id, "role": "ROLE_USER", "parts": []any{map[string]any{"text": "hello"}}},
	}})
	if err != nil {
		panic(err) // strings alone
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		panic(err) // the address is a test server's
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	return r
}

// cost is what one request allocates, without a network.
func cost(ctx context.Context, h http.Handler) (size, objects float64) {
	const n = 2000
	var before, after runtime.MemStats
	requests := make([]*http.Request, n)
	for i := range requests {
		requests[i] = messageRequest(ctx, "http://agent/", fmt.Sprint("cost-", i))
	}
	w := httptest.NewRecorder()
	w.Body = nil
	h.ServeHTTP(w, messageRequest(ctx, "http://agent/", "warm"))
	runtime.ReadMemStats(&before)
	for _, r := range requests {
		h.ServeHTTP(w, r)
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / n, float64(after.Mallocs-before.Mallocs) / n
}
