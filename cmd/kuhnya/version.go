package main

import (
	"fmt"
	"io"
	"runtime"
)

type versionCmd struct{}

// Run prints the version, and what it was built with.
func (*versionCmd) Run(stdout io.Writer) error {
	_, err := fmt.Fprintf(stdout, "kuhnya %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
