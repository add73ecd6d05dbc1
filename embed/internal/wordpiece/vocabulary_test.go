package wordpiece

import (
	"errors"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

func TestVocabularyRefuses(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string][]string{
		"none": {}, "empty": {"a", ""}, "twice": {"a", "##a", "a"}, "no UTF-8": {"\xff"}, "long": {strings.Repeat("a", maxTokenLen+1)},
	} {
		if _, err := newVocabulary(tokens); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v, err := newVocabulary([]string{"a", "##a", "#", "##", "###", "[UNK]"})
	if err != nil {
		t.Fatal(err)
	}
	for i, token := range []string{"a", "##a", "#", "##", "###", "[UNK]"} {
		if id, err := v.id(token); err != nil || int(id) != i {
			t.Errorf("%q: %d, %v", token, id, err)
		}
	}
	for _, r := range []Rules{{MaxRunes: 0, Unknown: "a"}, {MaxRunes: 1, Unknown: "b"}, {MaxRunes: 1, Unknown: "a", Verbatim: []string{"a"}}, {MaxRunes: 1, Unknown: "a", Verbatim: []string{"[b]"}}} {
		if _, err := New([]string{"a", "##a", "#", "##", "###", "[UNK]"}, r); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func BenchmarkCharacters(b *testing.B) {
	for b.Loop() {
		if _, err := parseCharacters(charactersText); err != nil {
			b.Fatal(err)
		}
	}
}
