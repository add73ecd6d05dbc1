package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/budget"
	"github.com/ragctx/ragctx/internal/ledger"
)

// Data that nests deep is shown as it is stored: every item of it would be indented.
func TestRenderDeepData(t *testing.T) {
	nested := func(depth int) json.RawMessage {
		items := strings.TrimSuffix(strings.Repeat("0,", 1000), ",")
		return json.RawMessage(strings.Repeat("[", depth) + items + strings.Repeat("]", depth))
	}
	for _, tt := range []struct {
		data  json.RawMessage
		plain bool
	}{
		{nested(5), false},
		{nested(ledger.MaxDepth), true},
		{json.RawMessage(`{"a":"` + strings.Repeat("[{", 1000) + `\\"}`), false},
		{json.RawMessage(strings.Repeat(`{"k":`, 20) + `1` + strings.Repeat(`}`, 20)), false},
	} {
		p := build(t, newLog(), ledger.PackRequest{Trigger: ledger.Trigger{Topic: "START", Data: tt.data}})
		if got := strings.Contains(p.Context, "Data: "+string(tt.data)+"\n"); got != tt.plain {
			t.Errorf("%.40s…: shown as stored is %t", tt.data, got)
		}
		if n := len(p.Context); n > 17*len(tt.data)+100 {
			t.Errorf("%.40s…: %d bytes have become %d", tt.data, len(tt.data), n)
		}
	}
}

// What a source has in memory is bounded, though not below what a context can show.
func TestSourceBytes(t *testing.T) {
	log := newLog()
	for i := range 8 {
		texts(t, log, "A", fmt.Sprint("no", i, "\n", strings.Repeat("\u20ac", 300_000)))
	}
	for _, tt := range []struct{ choice, want string }{{"latest", "no5"}, {"oldest", "no0"}} {
		s := strategy(t, `{"topic":"A","priority":"required","strategy":"`+tt.choice+`","compactAmount":8}`)
		p := build(t, log, ledger.PackRequest{Strategy: s})
		if r := p.Sources[0]; r.Selected != 3 || !r.Capped {
			t.Errorf("%s: %+v", tt.choice, r)
		}
		if got := shownWords(p.Context, "no0", "no4", "no5"); got != tt.want || budget.Chars(p.Context) != ledger.MaxContextChars {
			t.Errorf("%s: %d characters that begin with %q", tt.choice, budget.Chars(p.Context), got)
		}
	}
}
