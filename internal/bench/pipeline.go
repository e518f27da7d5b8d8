package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"cloud.google.com/go/firestore"
	"github.com/sethvargo/go-envconfig"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/hub"
	"truecost.dev/emulator/local"
	"truecost.dev/shared/callable"
)

const project = "truecost"

// aim of a kitchen, from the start call to complete.
const aim = 2 * time.Second

// pipeline runs kitchens through a local system: one at a time, then a crowd.
func pipeline(ctx context.Context, t *tabwriter.Writer) error {
	input, err := os.ReadFile("testdata/kitchen.json")
	if err != nil {
		return fmt.Errorf("run this from the root of the module: %w", err)
	}
	system, err := local.Start(ctx, hub.Config{Project: project, Region: "us-central1"}, envconfig.MapLookuper(nil))
	if err != nil {
		return err
	}
	defer func() { _ = system.Stop(ctx) }() // the process ends with it
	k := kitchen{input: input, call: callable.Client{BaseURL: system.Addresses().FunctionsURL(), HTTP: &http.Client{Timeout: time.Minute}}}
	if k.store, err = connect(ctx, system.Addresses().Firestore); err != nil {
		return err
	}
	defer k.store.Close()

	var starts, totals []time.Duration
	for i := range rounds {
		start, total, err := k.run(ctx, fmt.Sprintf("bench-%d", i))
		if err != nil {
			return err
		}
		starts, totals = append(starts, start), append(totals, total)
	}
	start, total := median(starts), median(totals)
	fmt.Fprintf(t, "start call answers\t%s\taim 1000 ms\t%.2f\n", milliseconds(start), start.Seconds())
	fmt.Fprintf(t, "kitchen, start call to complete\t%s\taim %s\t%.2f\n", milliseconds(total), milliseconds(aim), total.Seconds()/aim.Seconds())

	const crowd = 8
	began := time.Now()
	errs := make([]error, crowd)
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() { _, _, errs[i] = k.run(ctx, fmt.Sprintf("crowd-%d", i)) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	rate := float64(crowd*12) / time.Since(began).Seconds()
	fmt.Fprintf(t, "pipeline steps per second, %d kitchens at once\t%.0f\tone at a time %.0f\t%.2f\n",
		crowd, rate, 12/total.Seconds(), rate/(12/total.Seconds()))
	return nil
}

type kitchen struct {
	input json.RawMessage
	call  callable.Client
	store *firestore.Client
}

// run starts one kitchen and waits until it is complete.
func (k *kitchen) run(ctx context.Context, id string) (start, total time.Duration, err error) {
	began := time.Now()
	if err := k.call.Call(ctx, "start_deep_pipeline", map[string]any{"estimateId": id, "clarificationOutput": k.input}, nil); err != nil {
		return 0, 0, fmt.Errorf("start %s: %w", id, err)
	}
	start = time.Since(began)
	changes := k.store.Doc("estimates/" + id).Snapshots(ctx)
	defer changes.Stop()
	for {
		doc, err := changes.Next()
		if err != nil {
			return 0, 0, fmt.Errorf("watch %s: %w", id, err)
		}
		switch status := doc.Data()["status"]; status {
		case "complete":
			return start, time.Since(began), nil
		case "processing":
		default:
			return 0, 0, fmt.Errorf("%s ended as %v: %v", id, status, doc.Data()["error"])
		}
	}
}

func connect(ctx context.Context, address string) (*firestore.Client, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return firestore.NewClient(ctx, project, option.WithGRPCConn(conn))
}
