//go:build linux || darwin

package disk

import "syscall"

// free leaves out what is reserved for the superuser.
var free = func(path string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
