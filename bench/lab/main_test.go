package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSoakCommand runs a short soak of a server in this process.
func TestSoakCommand(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	err := runSoak(t.Context(), []string{
		"-data", dir, "-duration", "1s", "-every", "100ms", "-max-tail", "0", "-pool", "8",
	}, &b)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"operations/s, 0 failed; sessions were erased once they were old", "\ngoroutines ", "\ndisk, MiB ", "\npassed\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	b.Reset()
	err = runSoak(t.Context(), []string{"-data", dir, "-duration", "300ms", "-rate", "50", "-pool", "8", "-history", "-json"}, &b)
	if err != nil || !strings.Contains(b.String(), `"history":true`) {
		t.Errorf("%v, %s", err, b.String())
	}
	if err := runSoak(t.Context(), nil, &b); err == nil || !strings.Contains(err.Error(), "-data DIR") {
		t.Errorf("without a server: %v", err)
	}
}

// TestReportCommand shows a report alone, and compared with itself.
func TestReportCommand(t *testing.T) {
	const report = "../testdata/report.json"
	page := filepath.Join(t.TempDir(), "page.html")
	var b bytes.Buffer
	if err := runReport([]string{"-old", report, "-html", page, "-fail-if-slower", "5", report}, &b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ncompared with " + report, "\nverdict: too few runs to show any\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("<h2>Compared with")) {
		t.Errorf("the page: %v", err)
	}
	if err := runReport(nil, &b); !errors.Is(err, errUsage) {
		t.Errorf("no report: %v", err)
	}
	if err := runReport([]string{"nowhere.json"}, &b); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a report that is not there: %v", err)
	}
}
