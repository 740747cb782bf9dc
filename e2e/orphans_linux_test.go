package e2e

import (
	"os/exec"
	"syscall"
)

// A process must not outlive a test binary that is killed or panics.
func init() {
	endWithTests = func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
}
