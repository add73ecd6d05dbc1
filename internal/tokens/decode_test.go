package tokens

import (
	"errors"
	"testing"

	"github.com/ragctx/ragctx"
)

func TestDecode(t *testing.T) {
	b, err := cl100k()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode([]int{15339, 1917, 0, int(b.vocab.rank("\xe6"))}) // the first three as of tiktoken, and a half of a character
	if err != nil || got != "hello world!\uFFFD" {
		t.Errorf("%q, %v", got, err)
	}
	for _, ids := range [][]int{{-1}, {1 << 20}} {
		if _, err := Decode(ids); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%v: %v", ids, err)
		}
	}
}
