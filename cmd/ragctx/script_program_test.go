package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// scriptPath returns what the search path of scripts begins with, and "" for nothing.
//
// With the race detector a program takes a quarter of a second of the processor to start and as
// much again for a question, and scripts run hundreds. RAGCTX_PLAIN may name a ragctx without
// the detector: scripts then run commands with it that do one thing and end. What serves or
// works on many things at once is this program all the same.
func scriptPath(t *testing.T) string {
	plain := os.Getenv("RAGCTX_PLAIN")
	if plain == "" {
		return ""
	}
	own, err := exec.LookPath("ragctx") // which TestMain put there
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	choose := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in\n*' serve '*|*' mcp '*|*' ingest '*) exec '%s' \"$@\" ;;\nesac\nexec '%s' \"$@\"\n", own, plain)
	if err := os.WriteFile(filepath.Join(dir, "ragctx"), []byte(choose), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator)
}
