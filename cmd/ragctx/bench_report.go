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

// older returns the report to compare with; nil is none.
func (f benchFlags) older() (*bench.Report, error) {
	if f.compare == "" {
		return nil, nil //nolint:nilnil // as said
	}
	in, err := os.Open(f.compare)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	defer in.Close()
	r, err := bench.ReadReport(in)
	if err != nil {
		return nil, fmt.Errorf("compare: %s: %w", f.compare, err)
	}
	return &r, nil
}

// writable checks before the measurement that the reports can be written.
func (f benchFlags) writable() error {
	for flag, name := range map[string]string{"--json": f.json, "--html": f.html} {
		if name == "" || name == toStdout {
			continue
		}
		if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
			return fmt.Errorf("%s: %s is in a directory that is not there", flag, printable(name))
		}
		if err := mayWrite(name); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
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

// write writes a report and its comparison in all requested forms.
func (f benchFlags) write(stdout io.Writer, r bench.Report, c *bench.Comparison) error {
	var errs []error
	if f.json != toStdout {
		errs = append(errs, bench.WriteTable(stdout, r))
		if c != nil {
			fmt.Fprintf(stdout, "\ncompared with %s (%s):\n", printable(f.compare), printable(c.Since()))
			errs = append(errs, bench.WriteComparison(stdout, *c))
		}
	}
	if f.json != "" {
		errs = append(errs, f.writeTo(stdout, f.json, func(w io.Writer) error { return writeJSON(w, r) }))
	}
	if f.html != "" {
		errs = append(errs, f.writeTo(stdout, f.html, func(w io.Writer) error { return bench.WriteHTML(w, r, c) }))
	}
	return errors.Join(errs...)
}

// writeTo writes a file completely or not at all.
func (f benchFlags) writeTo(stdout io.Writer, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if name == toStdout {
		_, err := stdout.Write(b.Bytes())
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil { //nolint:gosec // a report is for everyone
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
