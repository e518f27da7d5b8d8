//go:build !linux

package supervise

import (
	"errors"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func suspend(*os.Process) error { return errors.ErrUnsupported }
func resume(*os.Process) error  { return errors.ErrUnsupported }
