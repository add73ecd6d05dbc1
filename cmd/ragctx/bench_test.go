package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoads has each load with and without writing beside it, and the first with questions
// that are repeated.
func TestLoads(t *testing.T) {
	names := func(f benchFlags) string {
		var all []string
		for _, l := range f.loads() {
			all = append(all, l.String())
		}
		return strings.Join(all, "; ")
	}
	for want, f := range map[string]benchFlags{
		"1 client; 4 clients; 1 client, repeated questions":                                       {clients: []int{1, 4}},
		"5/s; 5/s + 2 docs/s; 9/s; 9/s + 2 docs/s; 5/s, repeated questions":                       {clients: []int{4}, rates: []float64{5, 9}, arrivals: poisson, ingest: []float64{2}},
		"5/s evenly; 5/s evenly + 3 docs/s in the same namespace; 5/s evenly, repeated questions": {rates: []float64{5}, arrivals: evenly, ingest: []float64{0, 3}},
	} {
		if got := names(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if l := (benchFlags{clients: []int{7}, clientsGiven: true, rates: []float64{5}}).loads()[0]; l.Clients != 7 {
		t.Errorf("%+v", l)
	}
}

// TestWritable refuses what cannot be written before anything is measured, and leaves the
// rest as it was.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.json")
	if err := os.WriteFile(old, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"": "", toStdout: "", old: "", filepath.Join(dir, "new.json"): "", os.DevNull: "",
		dir:                              "is a directory",
		filepath.Join(dir, "no", "r"):    "is in a directory that is not there",
		filepath.Join(old, "r"):          "is in a directory that is not there",
		filepath.Join(dir, "a\x00.json"): "invalid argument",
	} {
		err := benchFlags{json: name}.writable()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--json: ")) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if b, _ := os.ReadFile(old); err != nil || len(entries) != 1 || string(b) != "{}" {
		t.Errorf("afterwards there are %v, %q: %v", entries, b, err)
	}
}
