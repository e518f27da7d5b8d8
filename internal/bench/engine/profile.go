package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"
)

// profileTime is how long the profiles go on.
const profileTime = 10 * time.Second

// profiled writes CPU profiles of all processes of ours with 50 runs in flight.
func profiled(ctx context.Context, o options) error {
	name, dir := embeddedRig, o.profile
	if o.official == "only" {
		name = officialRig
	}
	r, err := newRig(ctx, name)
	if err != nil {
		return err
	}
	defer r.close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	own, err := os.Create(filepath.Join(dir, "load.pprof"))
	if err != nil {
		return err
	}
	defer own.Close()
	start := r.flowRun(chainFlow, smallInput)
	if o.only == floorName {
		start = r.floorRun
	}
	if _, err := r.crowd(ctx, start, inFlight, inFlight); err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(own); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	errs := make(chan error, 2)
	go func() { errs <- r.engine.profile(filepath.Join(dir, "engine.pprof")) }()
	go func() {
		if r.stores == nil {
			errs <- nil
			return
		}
		errs <- r.stores.profile(filepath.Join(dir, "stores.pprof"))
	}()
	steps := 0
	for began := time.Now(); time.Since(began) < profileTime; steps += inFlight * chainSteps {
		if _, err := r.crowd(ctx, start, inFlight, inFlight); err != nil {
			return err
		}
	}
	fmt.Printf("%d steps while profiling\n", steps)
	return errors.Join(<-errs, <-errs)
}

// profile writes a CPU profile of a child.
func (p *process) profile(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	patient := &http.Client{Timeout: 2 * profileTime}
	answer, err := patient.Get(fmt.Sprintf("%s/profile?seconds=%d", p.Control, int(profileTime.Seconds())))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(f, answer.Body)
	return err
}
