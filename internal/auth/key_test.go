package auth

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary is also the rival process of TestLoadOrCreateKey: it prints the key of the folder that it is told.
const rivalFolder = "AUTH_TEST_RIVAL_FOLDER"

func TestMain(m *testing.M) {
	dir := os.Getenv(rivalFolder)
	if dir == "" {
		os.Exit(m.Run())
	}
	key, err := LoadOrCreateKey(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(hex.EncodeToString(key[:]))
}

func TestLoadOrCreateKey(t *testing.T) {
	t.Run("processes that start together share one key", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		rivals := make([]*exec.Cmd, 8)
		outputs := make([]bytes.Buffer, len(rivals))
		for i := range rivals {
			rivals[i] = exec.Command(os.Args[0])
			rivals[i].Env = append(os.Environ(), rivalFolder+"="+dir)
			rivals[i].Stdout, rivals[i].Stderr = &outputs[i], os.Stderr
			if err := rivals[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i, rival := range rivals {
			if err := rival.Wait(); err != nil {
				t.Fatalf("rival %d: %v", i, err)
			}
		}
		stored, err := os.ReadFile(filepath.Join(dir, keyFile))
		if err != nil {
			t.Fatal(err)
		}
		for i := range outputs {
			if got := outputs[i].String(); got != hex.EncodeToString(stored) {
				t.Errorf("rival %d has %q", i, got)
			}
		}
	})
	t.Run("only the owner may read it", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := LoadOrCreateKey(dir); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, keyFile))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %o", info.Mode().Perm())
		}
	})
	t.Run("a damaged file is reported and kept", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, keyFile)
		if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadOrCreateKey(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("err = %v", err)
		}
		if data, _ := os.ReadFile(path); string(data) != "short" {
			t.Error("the file was replaced")
		}
	})
	t.Run("another folder may have the same one", func(t *testing.T) {
		from, to := t.TempDir(), t.TempDir()
		if err := CopyKey(from, to); err == nil {
			t.Error("copied a key that is not there")
		}
		key, err := LoadOrCreateKey(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := CopyKey(from, to); err != nil {
			t.Fatal(err)
		}
		if copied, err := LoadOrCreateKey(to); err != nil || copied != key {
			t.Errorf("another key, error %v", err)
		}
	})
	t.Run("a key never prints", func(t *testing.T) {
		key, err := LoadOrCreateKey(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if out := fmt.Sprintf("%v %s %+v %#v", key, key, key, key); strings.Count(out, "[signing key]") != 4 {
			t.Error("a key printed itself")
		}
	})
}
