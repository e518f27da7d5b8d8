package supervise

import (
	"os"
	"syscall"
)

// attributes make a process leave with the thread that began it, whatever ends
// us, and keep signals of our terminal from it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// suspend stops a process where it stands.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// resume lets it go on.
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
