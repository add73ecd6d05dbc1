package tokens_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
)

func open(t *testing.T, name string) ragctx.Counter {
	t.Helper()
	c, err := tokens.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNames(t *testing.T) {
	names := tokens.Names()
	for _, name := range names {
		if got := open(t, name).Name(); got != name {
			t.Errorf("counter %q calls itself %q", name, got)
		}
	}
	if !slices.Contains(names, ragctx.DefaultTokenizer) {
		t.Errorf("%v lacks the default, %s", names, ragctx.DefaultTokenizer)
	}
	names[0] = "changed"
	if tokens.Names()[0] == "changed" {
		t.Error("Names shares its slice")
	}
}

func TestNewUnknown(t *testing.T) {
	for _, name := range []string{"", "gpt-4", "O200K_BASE", "o200k_base "} {
		c, err := tokens.New(name)
		if c != nil || !errors.Is(err, ragctx.ErrInvalid) {
			t.Fatalf("New(%q) = %v, %v; want ErrInvalid", name, c, err)
		}
		if fe, ok := errors.AsType[*ragctx.FieldError](err); !ok || fe.Field != "tokenizer" {
			t.Errorf("New(%q): %v does not name the field", name, err)
		}
		for _, known := range tokens.Names() {
			if !strings.Contains(err.Error(), known) {
				t.Errorf("New(%q): %v does not list %s", name, err, known)
			}
		}
	}
}

func TestCount(t *testing.T) {
	tests := []struct {
		counter, text string
		want          int
	}{
		{"o200k_base", "", 0},
		{"o200k_base", "hello world", 2},
		{"o200k_base", "<|endoftext|>", 7},
		{"o200k_base", "\xff", 1}, // U+FFFD
		{"o200k_base", "お誕生日おめでとう", 8},
		{"cl100k_base", "", 0},
		{"cl100k_base", "hello world", 2},
		{"cl100k_base", "<|endoftext|>", 7},
		{"cl100k_base", "お誕生日おめでとう", 9},
		{"chars4", "", 0},
		{"chars4", "a", 1},
		{"chars4", "abcd", 1},
		{"chars4", "日本語で書", 2},
		{"chars4", "\xff\xff\xff\xff\xff", 2},
		{"claude", "", 0},
		{"claude", "hello world", 4}, // 3.5
		{"gemini", "", 0},
		{"gemini", "hello world", 3}, // 2.8
		{"gemini", "123456", 9},      // 2 tokens and 4 digits more: 8.4
	}
	for _, tt := range tests {
		if got := open(t, tt.counter).Count(tt.text); got != tt.want {
			t.Errorf("%s: Count(%q) = %d, want %d", tt.counter, tt.text, got, tt.want)
		}
	}
}

// TestEstimatesStayAbove checks that the estimates are upper bounds on sample texts.
func TestEstimatesStayAbove(t *testing.T) {
	o200k, cl100k := open(t, "o200k_base"), open(t, "cl100k_base")
	claude, gemini := open(t, "claude"), open(t, "gemini")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		exact := o200k.Count(text)
		if got, least := claude.Count(text), max((exact*7+3)/4, cl100k.Count(text)); got < least {
			t.Errorf("claude: Count(%q) = %d, want at least %d", text, got, least)
		}
		if got := gemini.Count(text); got < exact || got < strings.Count(text, "7") {
			t.Errorf("gemini: Count(%q) = %d, o200k_base has %d", text, got, exact)
		}
	})
}

// TestHostileLength counts texts that are one piece, on which a quadratic merge
// would run for minutes.
func TestHostileLength(t *testing.T) {
	size := 1 << 17
	if testing.Short() {
		size = 1 << 14
	}
	for _, unit := range []string{"a", " ", "=", "日", "\xff", "1", "ab", "A日"} {
		text := strings.Repeat(unit, size/len(unit))
		for _, name := range []string{"o200k_base", "cl100k_base"} {
			if got := open(t, name).Count(text); got <= 0 || got > 3*size {
				t.Errorf("%s of %q repeated: %d tokens", name, unit, got)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	text := strings.Repeat("word", 300) + " and prose"
	for _, name := range tokens.Names() {
		want := open(t, name).Count(text)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				c, err := tokens.New(name)
				if err != nil {
					t.Error(err)
					return
				}
				for range 20 {
					if got := c.Count(text); got != want {
						t.Errorf("%s: %d tokens, want %d", name, got, want)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestCountDoesNotAllocate(t *testing.T) {
	text := strings.Repeat("It doesn't allocate: не выделяет, 不分配内存 — 42\n", 50)
	for _, name := range tokens.Names() {
		c := open(t, name)
		if got := testing.AllocsPerRun(5, func() { c.Count(text) }); got > 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
