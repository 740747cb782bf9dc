//go:build !linux && !darwin

package disk

var free func(path string) (int64, error)
