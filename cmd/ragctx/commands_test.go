package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls fn with every command that the help shows.
func eachCommand(fn func(*cobra.Command)) {
	root := newRoot(noEnv)
	strictBuiltins(root)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		fn(cmd)
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				walk(c)
			}
		}
	}
	walk(root)
}

// packageNames are words that only developers know.
var packageNames = regexp.MustCompile(`\b(?:atomicfile|bleve|cobra|engine|hnsw|httpclient|koanf|passage|scorch|sqlite|xmlfmt)\b`)

// TestHelp: the help of each command has lines of at most 100 columns, flags in groups with types, and no
// names of packages.
func TestHelp(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^([A-Z][a-z ]{2,30}):$`)
	groups := []string{"Usage", "Examples", "Commands", "Flags"}
	for _, g := range commandGroups {
		groups = append(groups, g.title)
	}
	for _, s := range allSettings() {
		groups = append(groups, s.group)
	}
	eachCommand(func(cmd *cobra.Command) {
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		completion := cmd.Parent() != nil && cmd.Parent().Name() == "completion" // cobra's text
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
				t.Errorf("%s: a line of %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		if name := packageNames.FindString(out.String()); name != "" {
			t.Errorf("%s: the help names the package %s", cmd.CommandPath(), name)
		}
		for _, h := range heading.FindAllStringSubmatch(out.String(), -1) {
			if !completion && !slices.Contains(groups, h[1]) {
				t.Errorf("%s: the heading %q is no group", cmd.CommandPath(), h[1])
			}
		}
		if first, _ := utf8.DecodeRuneInString(cmd.Short); cmd.Short != "" && (!unicode.IsUpper(first) || strings.HasSuffix(cmd.Short, ".")) {
			t.Errorf("%s: %q; begin with a capital and end without a period", cmd.CommandPath(), cmd.Short)
		}
	})
}

// TestServeHelp: the flags of serve stand in the groups of the settings, with types and defaults.
func TestServeHelp(t *testing.T) {
	r := ragctxIn(t.Context(), t, t.TempDir(), "", "serve", "--help")
	group := regexp.MustCompile(`(?ms)^Reranking:\n(.*?)\n\n`).FindStringSubmatch(r.stdout)
	if group == nil {
		t.Fatalf("no group for reranking:\n%s", r.stdout)
	}
	for _, want := range []string{`--rerank-top int +.*\(default 50\)`, `--rerank-timeout duration(?s:.*)\(default 1s\)`, `--rerank-model string `} {
		if !regexp.MustCompile(want).MatchString(group[1]) {
			t.Errorf("no %s in\n%s", want, group[1])
		}
	}
	for _, s := range allSettings() {
		if s.name != "serve_docs" && !strings.Contains(r.stdout, "--"+flagName(s.name)) != (s.name == "server" || s.name == "key_file" || s.name == "ca_file") {
			t.Errorf("--%s is missing, or has no use there", flagName(s.name))
		}
	}
}

// otherVerbs are verbs for which another one is used, which has them as aliases.
var otherVerbs = map[string]string{
	"rm": "delete", "remove": "delete", "forget": "delete", "erase": "delete", "get": "show", "print": "show", "describe": "show",
	"add": "create", "make": "create", "new": "create", "find": "search", "ls": "list", "stop": "cancel",
}

// TestVerbs: one verb for one thing.
func TestVerbs(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		if verb := otherVerbs[cmd.Name()]; verb != "" {
			t.Errorf("%s: the verb is %s", cmd.CommandPath(), verb)
		}
		if cmd.Name() == "delete" && (!cmd.HasAlias("rm") || !cmd.HasAlias("forget")) {
			t.Errorf("%s has the aliases %v", cmd.CommandPath(), cmd.Aliases)
		}
	})
}

// sharedFlags are the flags of several commands, with the number of their descriptions: those with several
// mean different things.
var sharedFlags = map[string]int{
	"after": 4, "agent": 4, "all-users": 1, "as-of": 1, "before": 1, "contains": 1, "depth": 1, "docs": 2, "dry-run": 1, "erase": 1,
	"exact": 1, "execution": 1, "explain": 2, "filter": 1, "format": 4, "highlight": 2, "in-session": 1, "json": 3, "kind": 1,
	"leaf": 2, "limit": 3, "max-tokens": 4, "min-importance": 2, "min-relevance": 1, "no-citations": 1, "phase": 1, "pinned": 2,
	"prefix": 2, "preset": 1, "profile": 2, "query": 2, "quiet": 2, "recall-time": 2, "receiver": 2, "report": 1, "reserve-output": 1,
	"role": 3, "section": 2, "sender": 2, "session": 4, "spotlight": 2, "state": 3, "strategy": 2, "tag": 4, "tokenizer": 1, "topic": 2,
	"ttl": 2, "type": 5, "user": 8, "window": 1,
}

// TestFlagsAreAlike: a flag of several commands has one description, except those that mean different
// things; and every flag has a type that the help explains.
func TestFlagsAreAlike(t *testing.T) {
	helps, uses := make(map[string]map[string]bool), make(map[string]int)
	eachCommand(func(cmd *cobra.Command) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || f.Annotations[groupAnnotation] != nil || cmd.HasParent() && cmd.Parent().Name() == "completion" {
				return
			}
			if helps[f.Name] == nil {
				helps[f.Name] = make(map[string]bool)
			}
			helps[f.Name][f.Usage] = true
			uses[f.Name]++
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: %q", cmd.CommandPath(), f.Name, f.Usage)
			}
			if kind := f.Value.Type(); !slices.Contains([]string{
				"bool", "string", "stringArray", "stringSlice", "list", "int", "int64",
				"uint64", "float", "float64", "number", "time", "duration", "size",
			}, kind) {
				t.Errorf("%s --%s has the type %s", cmd.CommandPath(), f.Name, kind)
			}
		})
	})
	got := make(map[string]int)
	for name, n := range uses {
		if n > 1 {
			got[name] = len(helps[name])
		}
	}
	if d := cmp.Diff(sharedFlags, got); d != "" {
		t.Errorf("flags of several commands, -listed +found:\n%s\n%v", d, slices.Sorted(maps.Keys(got)))
	}
}

// TestConditions: the flags of conditions are on each command that searches.
func TestConditions(t *testing.T) {
	for path, flags := range map[string][]string{
		"query":         {"tag", "filter", "min-relevance", "as-of", "after", "before", "limit", "type", "user", "agent", "in-session", "session", "json"},
		"explain":       {"tag", "filter", "min-relevance", "as-of", "after", "before", "limit", "type", "user", "agent", "in-session", "session", "json"},
		"search":        {"tag", "filter", "min-relevance", "as-of", "after", "before", "limit", "type", "user", "agent", "in-session", "session", "json"},
		"memory search": {"tag", "filter", "min-relevance", "as-of", "after", "before", "limit", "user", "agent", "in-session", "json"},
		"memory list":   {"tag", "as-of", "after", "before", "limit", "type", "user", "agent", "in-session", "json"},
		"docs list":     {"tag", "filter", "limit", "json"},
		"sessions list": {"limit", "json"}, "sessions messages": {"limit", "json"}, "jobs list": {"limit", "json"},
		"ledger tail": {"limit", "json"}, "events": {"limit", "json"}, "docs duplicates": {"limit", "json"},
	} {
		cmd, _, err := newRoot(noEnv).Find(strings.Fields(path))
		if err != nil || cmd.CommandPath() != "ragctx "+path {
			t.Fatalf("%s: %v", path, err)
		}
		for _, f := range flags {
			if cmd.Flags().Lookup(f) == nil {
				t.Errorf("%s has no --%s", path, f)
			}
		}
	}
}

// TestSuggestions: a wrong command or flag is answered by a similar one, in groups of commands, too.
func TestSuggestions(t *testing.T) {
	home := t.TempDir()
	for line, want := range map[string]string{
		"qurey x":                      `"query"`,
		"docs delte x":                 `"delete"`,
		"docs lst --json":              `"list"`,
		"--log-level info docs lst -q": `"list"`,
		"forget x":                     `"memory delete"`,
		"query x --max-token 5":        `"--max-tokens"`,
		"serve --vectr-graph flat":     `"--vector-graph"`,
		"memory list --min-import 1":   `"--min-importance"`,
		"sessions compact s --if-du":   `"--if-due"`,
	} {
		r := ragctxIn(t.Context(), t, home, "", strings.Fields(line)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, "did you mean ") || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d, %s", line, r.code, r.stderr)
		}
	}
}

// TestPlural: counts in output have their nouns from amount.
func TestPlural(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{{1, "namespace", "1 namespace"}, {0, "item", "0 items"}, {2, "memory", "2 memories"}, {1, "memory", "1 memory"}, {3, "index", "3 indexes"}} {
		if got := amount(c.n, c.noun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	plural := regexp.MustCompile(`%d (?:namespaces|documents|memories|chunks|items|tokens|files|pages|turns|messages|texts|requests|groups|lines|versions)\b`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if b, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		} else if bad := plural.FindString(string(b)); bad != "" && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s: %q; use amount", name, bad)
		}
	}
}

// TestNoPackageNames: a message of the command line begins with no name of a package. It reads the sources
// for the names with which errors begin.
func TestNoPackageNames(t *testing.T) {
	found := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == "bench" || d.Name() == "faultfs" || d.Name() == ".git") {
			return cmpErr(err, d)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			fn, isFn := call.Fun.(*ast.SelectorExpr)
			text, isText := call.Args[0].(*ast.BasicLit)
			if !isFn || !isText || fn.Sel.Name != "Errorf" && fn.Sel.Name != "New" {
				return true
			}
			value, _ := strconv.Unquote(text.Value)
			if strings.HasPrefix(value, file.Name.Name+": ") {
				found++
				if got := withoutPackages(value); strings.HasPrefix(got, file.Name.Name+": ") {
					t.Errorf("%s: the message %q begins with the name of a package", path, got)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || found < 20 {
		t.Errorf("%d messages, %v", found, err)
	}
	if got := withoutPackages("close data directory: keyword: close: index: closed"); got != "close data directory: close: closed" {
		t.Error(got)
	}
}

// cmpErr skips a directory unless there is an error.
func cmpErr(err error, d fs.DirEntry) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}

// riddles are turns of phrase that leave the subject of a sentence unnamed.
var riddles = regexp.MustCompile(`(?i)(?:^|[.;:,(] )(?:what|whoever|whatever)\b|\bis told\b|\btold\b|\b(?:no|some)body\b|\bfor good\b|\bgo(?:es)? on\b|\bbeside\b`)

// maxHelpWords is the largest number of words in a sentence of a help.
const maxHelpWords = 30

// TestHelpIsPlain: the texts of the help have short sentences that name their subjects.
func TestHelpIsPlain(t *testing.T) {
	ends := regexp.MustCompile(`[.!?:]["')]*\s+|\n\s*\n|\n  `)
	eachCommand(func(cmd *cobra.Command) {
		if cmd.HasParent() && cmd.Parent().Name() == "completion" {
			return // cobra's texts
		}
		texts := []string{cmd.Short, cmd.Long}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { texts = append(texts, f.Usage) })
		for _, text := range texts {
			if odd := riddles.FindString(text); odd != "" {
				t.Errorf("%s: %q in %q; name the subject", cmd.CommandPath(), odd, text)
			}
			for _, s := range ends.Split(text, -1) {
				if n := len(strings.Fields(s)); n > maxHelpWords {
					t.Errorf("%s: a sentence of %d words, more than %d: %s", cmd.CommandPath(), n, maxHelpWords, s)
				}
			}
		}
	})
}
