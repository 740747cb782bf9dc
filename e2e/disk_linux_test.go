package e2e

import (
	"fmt"
	"syscall"
)

func init() {
	mountDisk = func(folder string, size int) (func() error, error) {
		if err := syscall.Mount("kuhnya-test", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)); err != nil {
			return nil, fmt.Errorf("mount tmpfs: %w", err)
		}
		return func() error { return syscall.Unmount(folder, syscall.MNT_DETACH) }, nil
	}
}
