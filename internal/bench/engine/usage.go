package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what a process has used so far.
type usage struct {
	CPU  time.Duration `json:"cpu"`  // user and system
	Heap uint64        `json:"heap"` // bytes in use
	RSS  uint64        `json:"rss"`  // bytes resident now
}

func used() usage {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // cannot fail for oneself
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Heap: m.HeapInuse}
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := strings.Fields(string(b)); len(f) > 1 {
			pages, _ := strconv.ParseUint(f[1], 10, 64)
			u.RSS = pages * uint64(os.Getpagesize())
		}
	}
	return u
}
