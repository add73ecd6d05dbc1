package facts

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

// scored is the training's score of a unit, with the rounded weights.
type scored struct {
	Turn    string          `json:"turn"`
	Message int             `json:"message"`
	From    int             `json:"from"`
	P       float64         `json:"p"`
	Kind    ragctx.FactKind `json:"kind"`
}

// TestScoresAreThoseOfTheTraining compares with what train/train.py computed.
func TestScoresAreThoseOfTheTraining(t *testing.T) {
	data, err := os.ReadFile("testdata/scores.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]scored{}
	for line := range strings.Lines(string(data)) {
		var s scored
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		want[s.Turn] = append(want[s.Turn], s)
	}
	w, n := loadWeights(), 0
	for _, file := range trainFiles(t) {
		for _, l := range readTurns(t, file) {
			for _, s := range want[l.ID] {
				e, _ := l.reader(s.Message)
				sc, b := e.scene(), newBag()
				for k, u := range sc.units {
					if u.from != s.From {
						continue
					}
					e.features(b, sc, k)
					n++
					if p, kind := w.weigh(b.hashes, len(sc.units)),
						w.kindOf(b.hashes, func(ragctx.FactKind) bool { return false }); math.Abs(p-s.P) > 1e-6 || kind != s.Kind {
						t.Errorf("%s: %q is a %s with %.7f, the training says %s with %.7f", l.ID,
							e.t.quote(u.from, u.to), kind, p, s.Kind, s.P)
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("compared %d units", n)
	}
}
