package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a terminal of its own: what is written to it is read from the other side.
func terminal(t *testing.T) (other, own *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	t.Cleanup(func() { other.Close() })
	if err := unix.IoctlSetPointerInt(int(other.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	n, err := unix.IoctlGetInt(int(other.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	own, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	t.Cleanup(func() { own.Close() })
	return other, own
}

// TestNothingRawOnATerminal stores text that makes a terminal do things, and shows it with
// every command that shows what is stored.
func TestNothingRawOnATerminal(t *testing.T) {
	home := t.TempDir()
	const trap = "zebra x\u202e\u200b\u2028hi"                                       // what may stand in a file of text
	const more = trap + "\x1b]0;owned\x07\x1b[2Jsays\rhidden\b\u009b31m\u009d0;\x7f" // what comes through the API
	write(t, home, map[string]string{
		"docs/zebra.md": "# Zebra " + trap + "\n\nThe zebra eats grass. " + trap + "\n", "plan.json": `{"sources":[{"topic":"T"}]}`,
	})
	for _, args := range [][]string{
		{"ingest", filepath.Join(home, "docs")},
		{"remember", "The zebra is striped " + more},
		{"ledger", "publish", "team", "--topic", "T", "--sender", "zoo", "zebra " + more},
		{"sessions", "append", "s", "zebra " + more, "--create"},
	} {
		if r := ragctxIn(t.Context(), t, home, "", args...); r.code != exitOK {
			t.Fatalf("%q: exit %d\n%s", args, r.code, r.stderr)
		}
	}
	for _, args := range [][]string{
		{"docs", "get", "docs/zebra.md"},
		{"docs", "show", "docs/zebra.md", "--chunks"},
		{"docs", "list"},
		{"docs", "list", "--json"},
		{"search", "zebra"},
		{"search", "zebra", "--json"},
		{"query", "zebra"},
		{"query", "zebra", "--format", "text"},
		{"query", "zebra", "--format", "json"},
		{"query", "zebra", "--explain"},
		{"memory", "list"},
		{"memory", "export"},
		{"memory", "search", "zebra"},
		{"ledger", "tail", "team"},
		{"ledger", "export", "team"},
		{"pack", "team", "--strategy", filepath.Join(home, "plan.json")},
		{"pack", "team", "--strategy", filepath.Join(home, "plan.json"), "--json"},
		{"sessions", "messages", "s"},
		{"sessions", "compile", "s"},
		{"sessions", "export", "s"},
	} {
		other, own := terminal(t)
		shown := make(chan []byte, 1)
		go func() {
			b, _ := io.ReadAll(other) // ends with an error once nobody has the other side open
			shown <- b
		}()
		code := run(t.Context(), args, strings.NewReader(""), own, own)
		own.Close()
		got := bytes.ReplaceAll(<-shown, []byte("\r\n"), []byte("\n"))
		for _, ours := range []string{boldOn, boldOff} {
			got = bytes.ReplaceAll(got, []byte(ours), nil)
		}
		if code != exitOK || !bytes.Contains(got, []byte("zebra")) {
			t.Errorf("%q: exit %d\n%s", args, code, got)
		}
		if at := bytes.IndexFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && needsEscape(r) }); at >= 0 {
			t.Errorf("%q puts %+q out", args, got[max(0, at-20):min(len(got), at+20)])
		}
	}
}
