package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLedgerPage runs the example of docs/ledger.md: the JSON blocks are the files that
// it names, the lines after a $ are commands, and what follows them is their output,
// errors after it. An ellipsis stands for anything within a line, or as a line for lines.
func TestLedgerPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ledger.md"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Chdir(home)
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```([a-z]+)(?: ([a-z.]+))?\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		switch kind, name, text := block[1], block[2], block[3]; kind {
		case "json":
			write(t, home, map[string]string{name: text})
		case "console":
			for _, step := range strings.Split("\n"+text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(step, "\n")
				ran++
				r := ragctxIn(t.Context(), t, home, "", commandLine(t, command)...)
				if got := trimmed(r.stdout + r.stderr); r.code != exitOK || !pageLines(want).MatchString(got) {
					t.Errorf("%s\nexit %d:\n%s\nthe page says:\n%s", command, r.code, got, want)
				}
			}
		}
	}
	if ran < 10 {
		t.Errorf("the page has only %d commands", ran)
	}
}

// commandLine takes a command line apart as a shell does, without the program's name.
func commandLine(t *testing.T, command string) (out []string) {
	t.Helper()
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(command, -1) {
		out = append(out, strings.Trim(w, "'"))
	}
	if len(out) == 0 || out[0] != "ragctx" {
		t.Fatalf("not a command of this program: %s", command)
	}
	return out[1:]
}

// trimmed takes blanks off the ends of lines, and blank lines off the end.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

func pageLines(text string) *regexp.Regexp {
	var b strings.Builder
	for l := range strings.Lines(trimmed(text)) {
		if l == "…\n" {
			b.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(l), "…", `[^\n]*`))
	}
	return regexp.MustCompile(`\A` + b.String() + `\z`)
}
