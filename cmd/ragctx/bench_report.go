package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ragctx/ragctx/bench"
)

// toStdout is the file name of standard output.
const toStdout = "-"

// writable checks before the measurement that the report can be written.
func (f benchFlags) writable() error {
	if f.json == "" || f.json == toStdout {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(f.json)); err != nil || !info.IsDir() {
		return fmt.Errorf("--json: %s is in a directory that is not there", printable(f.json))
	}
	if err := mayWrite(f.json); err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	return nil
}

// mayWrite reports whether a file can be written, and changes nothing.
func mayWrite(name string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.CreateTemp(filepath.Dir(name), ".ragctx-bench-")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() { // opening a pipe would show its reader an end
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// write writes the report as a table to stdout, and as JSON where that is requested.
func (f benchFlags) write(stdout io.Writer, r bench.Report) error {
	if f.json == toStdout {
		return writeJSON(stdout, r)
	}
	if err := bench.WriteTable(stdout, r); err != nil || f.json == "" {
		return err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, r); err != nil {
		return err
	}
	if err := os.WriteFile(f.json, b.Bytes(), 0o644); err != nil { //nolint:gosec // a report is for everyone
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
