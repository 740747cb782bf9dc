package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"testing"
)

// TestLogger_takes_what_libraries_write: a line of Go's standard log is a line like any other.
func TestLogger_takes_what_libraries_write(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write
	logFlags{LogFormat: "json", LogLevel: "info"}.logger()
	log.Print("connection reset")
	os.Stderr = stderr
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Level, Msg string }
	if err := json.Unmarshal(text, &line); err != nil || line.Level != "WARN" || line.Msg != "connection reset" {
		t.Errorf("%q: %v", text, err)
	}
}
