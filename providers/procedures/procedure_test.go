package procedures_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/providers/procedures"
)

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"Deploy the service!": "deploy-the-service", "  a--b ": "a-b", "Größe": "größe", "部署 服务": "部署-服务", "…": "",
		"a_b": "a-b", "ＡＢ１": "ab1", strings.Repeat("x", 70): strings.Repeat("x", 64), "\xff": "",
	} {
		if got := procedures.Slug(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "-a", "a-", "a--b", "A", "a b", "a/b", "a@1", "a:b", strings.Repeat("x", 65), "\xff", "a\x00"} {
		if err := procedures.ValidName(name); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if s := procedures.Slug(rapid.String().Draw(t, "text")); s != "" && procedures.ValidName(s) != nil {
			t.Fatalf("%q: %v", s, procedures.ValidName(s))
		}
	})
}

func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := procedures.ID{
			Name:    rapid.SampledFrom([]string{"a", "deploy-service", "部署"}).Draw(t, "name"),
			Version: rapid.IntRange(0, 100).Draw(t, "version"),
		}
		id.UserID, id.AgentID = rapid.SampledFrom([]string{"", "ada", "a/b@1", "é %2F"}).Draw(t, "user"),
			rapid.SampledFrom([]string{"", "x/y"}).Draw(t, "agent")
		if got, err := procedures.ParseID(id.String()); err != nil || got != id {
			t.Fatalf("%s: %+v, %v", id, got, err)
		}
	})
	for _, bad := range []string{
		"", "x", "procedure:", "procedure:A", "procedure:a@0", "procedure:a@01",
		"procedure:a@x", "procedure:a@1/b/c/d", "procedure:a@1/%zz",
	} {
		if _, err := procedures.ParseID(bad); !errors.Is(err, ragctx.ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestLineCost shows that a procedure's size in a context does not grow with its body, nor beyond
// about 50 tokens.
func TestLineCost(t *testing.T) {
	count, err := tokens.New(ragctx.DefaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("deploy the {service} to the {environment} of a customer ", 20)
	if n := count.Count(procedures.Line("deploy-service-to-environment", long)); n > 60 {
		t.Errorf("%d tokens", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		line := procedures.Line("name", rapid.String().Draw(t, "trigger"))
		if len(line) > procedures.MaxLineBytes || !utf8.ValidString(line) || strings.Contains(line, "\n") {
			t.Fatalf("%q", line)
		}
	})
}

// entry draws a text of several lines as lists may hold.
func entry(t *rapid.T, label string) string {
	line := rapid.StringMatching("[-+*#`a-z0-9.:{} äß世]{1,20}")
	return strings.Join(rapid.SliceOfN(line, 1, 3).Draw(t, label), "\n")
}

func TestMarkdownRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b ragctx.ProcedureBody
		b.Trigger = entry(t, "trigger")
		for _, list := range []*[]string{&b.Steps, &b.Tools, &b.Pitfalls, &b.Verification} {
			for range rapid.IntRange(0, 12).Draw(t, "n") {
				*list = append(*list, entry(t, "entry"))
			}
		}
		b = procedures.TrimBody(b)
		text := procedures.Markdown("deploy-service", b)
		name, got, err := procedures.ParseMarkdown(text)
		if err != nil || name != "deploy-service" {
			t.Fatalf("%q, %v of\n%s", name, err, text)
		}
		if diff := cmp.Diff(b, got); diff != "" {
			t.Fatalf("%s of\n%s", diff, text)
		}
	})
}

func TestParse(t *testing.T) {
	want := procedures.TrimBody(ragctx.ProcedureBody{Trigger: "a deploy", Steps: []string{"one", "two\nand more"}, Pitfalls: []string{"x"}})
	for _, text := range []string{
		"# deploy\n\nWhen: a deploy\n\n## Steps\n1. one\n2. two\n   and more\n\n## pitfalls\n* x\n",
		`{"name": "deploy", "trigger": "a deploy", "steps": ["one", "two\nand more"], "pitfalls": ["x"]}`,
	} {
		name, got, err := procedures.Parse(text)
		if err != nil || name != "deploy" {
			t.Errorf("%q, %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	for _, bad := range []string{"just text", "## Else\n", `{"steps": 1}`, `{"odd": 1}`, `{} {}`, "When: x\n\n## Steps\ntext\n"} {
		if _, _, err := procedures.Parse(bad); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# a\nWhen: b\n## Steps\n1. c\n   d\n\n- e\n")
	f.Add(`{"name":"a","steps":["b"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, b, err := procedures.Parse(text)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		_, again, err := procedures.ParseMarkdown(procedures.Markdown("x", b))
		if err != nil {
			t.Fatalf("%v of %q", err, text)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
