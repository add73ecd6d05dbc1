package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shellBlock  = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$|((?:^ {4}[^\n]*\n)+)")
	shellLine   = regexp.MustCompile(`(?m)^(?: {4})?(?:\$ )?(?:[A-Z_]+=(?:'[^']*'|\S+) )*(?:\./ragctx|ragctx|go run \./cmd/ragctx) (.*)$`)
	shellWord   = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	shellEnd    = regexp.MustCompile(` +(?:#|\||>|&|;).*$`)
	inlineSpan  = regexp.MustCompile("`ragctx ([^`]+)`")
	inlineFlag  = regexp.MustCompile(`--([a-z][a-z-]+)`)
	placeholder = regexp.MustCompile(`\[--|<`)
)

// TestCommandsInPages: the command lines of the documentation are ones that the program
// understands. What a page has as an example of use is parsed whole; of commands within
// sentences, the command and its flags have to exist.
func TestCommandsInPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	parsed := 0
	for _, path := range append(pages, "../../README.md", "../../bench/README.md") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "\\\n", " ")
		for _, block := range shellBlock.FindAllString(text, -1) {
			for _, line := range shellLine.FindAllStringSubmatch(block, -1) {
				if placeholder.MatchString(line[1]) {
					continue
				}
				parsed++
				var args []string
				for _, w := range shellWord.FindAllString(shellEnd.ReplaceAllString(line[1], ""), -1) {
					args = append(args, strings.Trim(w, `'"`))
				}
				if err := understood(args); err != nil {
					t.Errorf("%s: ragctx %s: %v", filepath.Base(path), line[1], err)
				}
			}
		}
		for _, span := range inlineSpan.FindAllStringSubmatch(text, -1) {
			mentioned(t, filepath.Base(path), span[1])
		}
	}
	if parsed < 50 {
		t.Errorf("only %d command lines were found", parsed)
	}
}

// understood parses a command line as the program does, and runs nothing.
func understood(args []string) error {
	root := newRoot(os.LookupEnv)
	strictBuiltins(root)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return flagError(cmd, err)
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// mentioned checks a command within a sentence, which may leave arguments out.
func mentioned(t *testing.T, page, text string) {
	t.Helper()
	root := newRoot(os.LookupEnv)
	strictBuiltins(root)
	words := strings.Fields(text)
	cmd, _, err := root.Find(words)
	if err != nil || cmd == root && !strings.HasPrefix(words[0], "-") && words[0] != strings.ToUpper(words[0]) {
		t.Errorf("%s: `ragctx %s`: there is no such command", page, text)
		return
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, f := range inlineFlag.FindAllStringSubmatch(text, -1) {
		if cmd.Flag(f[1]) == nil {
			t.Errorf("%s: `ragctx %s`: there is no flag --%s", page, text, f[1])
		}
	}
}
