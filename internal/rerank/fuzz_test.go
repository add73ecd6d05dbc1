package rerank

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// FuzzAnswer: whatever a service says, there is an error, or one score of 0 to 1
// for each text.
func FuzzAnswer(f *testing.F) {
	f.Add(byte(0), byte(0), byte(2), []byte(`{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"id":"x","meta":{}}`))
	f.Add(byte(1), byte(1), byte(1), []byte(`{"model":"m","usage":{"total_tokens":9},"results":[{"index":0,"relevance_score":-0.25,"document":{"text":"a"}}]}`))
	f.Add(byte(2), byte(2), byte(2), []byte(`[{"index":1,"score":3.5},{"index":0,"score":-11.02}]`))
	f.Add(byte(2), byte(0), byte(1), []byte(`[{"index":0,"score":1e-400}]`))
	f.Add(byte(0), byte(0), byte(0), []byte(`{"results":null}`))
	f.Fuzz(func(t *testing.T, shape, scale, n byte, body []byte) {
		s := Shapes()[int(shape)%len(Shapes())]
		scores, err := readScores(s, Scales()[int(scale)%len(Scales())], body, int(n))
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if len(scores) != int(n) {
			t.Fatalf("%d scores for %d texts", len(scores), n)
		}
		for _, x := range scores {
			if !(x >= 0 && x <= 1) {
				t.Errorf("score %v", x)
			}
		}
	})
}

// TestAnyOrder: results in any order give the scores in the order of the texts.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 40).Draw(t, "scores")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for _, shape := range Shapes() {
			results := []map[string]any{}
			for i, s := range want {
				results = append(results, map[string]any{"index": i, "relevance_score": s, "score": s, "text": fmt.Sprint(i)})
			}
			rnd.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
			var answer any = map[string]any{"results": results, "usage": map[string]int{"total_tokens": 3}}
			if shape == TEI {
				answer = results
			}
			body, err := json.Marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readScores(shape, Unit, body, len(want))
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-15 {
					t.Errorf("%s: text %d has %v, want %v", shape, i, got[i], want[i])
				}
			}
		}
	})
}
