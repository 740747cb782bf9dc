// Package disk asks how much room a file system has. It promises nothing about the next write: others write too.
package disk

import (
	"errors"
	"fmt"
)

// Free returns the bytes that this process may still write to the file system of a path. Where nobody has written how
// to ask, the error is [errors.ErrUnsupported].
func Free(path string) (int64, error) {
	if free == nil {
		return 0, fmt.Errorf("free space of %s: %w", path, errors.ErrUnsupported)
	}
	n, err := free(path)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", path, err)
	}
	return n, nil
}
