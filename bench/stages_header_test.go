package bench

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStagesOf(t *testing.T) {
	for _, c := range []struct {
		headers []string
		want    []stage
	}{
		{nil, nil},
		{[]string{"keyword;dur=1.5, engine;dur=4"}, []stage{{"keyword", 1.5}, {"engine", 4}, {"http", 6}}},
		{[]string{`db;desc="a b";DUR="2"`, "cache;dur=0"}, []stage{{"db", 2}, {"cache", 0}}},
		{[]string{"engine;dur=40"}, []stage{{"engine", 40}, {"http", 0}}},
		{[]string{"a, ;dur=1, b;dur=x, c;dur=-1, d;dur=NaN, e;dur=1e99, <b>;dur=1, http;dur=3, " +
			"" + string(make([]byte, 99)) + ";dur=1"}, nil},
	} {
		if d := cmp.Diff(c.want, stagesOf(http.Header{"Server-Timing": c.headers}, 10*time.Millisecond),
			cmp.AllowUnexported(stage{})); d != "" {
			t.Errorf("%q: %s", c.headers, d)
		}
	}
}

// TestStageLatencies: stages are sorted, and count only where they ran.
func TestStageLatencies(t *testing.T) {
	got := stageLatencies([]sample{
		{stages: []stage{{"engine", 4}, {"http", 1}, {"vector", 1}}},
		{stages: []stage{{"engine", 6}, {"http", 1}, {"own", 2}, {"keyword", 3}}},
	})
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"keyword", "vector", "own", "engine", "http"}, names); d != "" {
		t.Error(d)
	}
	if l := got[3].Latency; l.Count != 2 || l.P50 != 4 || l.Max != 6 || got[0].Latency.Count != 1 {
		t.Errorf("%+v", got)
	}
}
