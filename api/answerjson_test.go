package api

import (
	"bytes"
	"math"
	"testing"

	"github.com/ragctx/ragctx/internal/resolve"
)

// TestWriteJSON: an answer is sent as a whole, or nothing of it.
func TestWriteJSON(t *testing.T) {
	var w bytes.Buffer
	if err := writeJSON(&w, map[string]any{"text": "a <b> & \"c\""}); err != nil {
		t.Fatal(err)
	}
	if got, want := w.String(), `{"text":"a <b> & \"c\""}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		var w bytes.Buffer
		a := resolve.Answer{Providers: []resolve.ProviderReport{{Name: "docs", TookMS: bad}}}
		if err := writeJSON(&w, a); err == nil || w.Len() > 0 {
			t.Errorf("%v is sent as %q", bad, w.String())
		}
	}
}
