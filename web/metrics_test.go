package web

import (
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	all, err := readMetrics(strings.NewReader(`# HELP x y
# TYPE x histogram
x_bucket{route="/a b",method="GET",le="0.001"} 50
x_bucket{route="/a b",method="GET",le="0.01"} 90
x_bucket{route="/a b",method="GET",le="+Inf"} 100
x_sum{route="/a b",method="GET"} 1.5
x_count{route="/a b",method="GET"} 100
odd line
plain 3e+06
quoted{v="a\"},b=\"c"} 1
`))
	if err != nil || len(all) != 7 || all[5].value != 3e6 || all[6].labels["v"] != `a"},b="c` {
		t.Fatalf("%+v, %v", all, err)
	}
	by, order := histograms(all, "x", "method", "route")
	if len(order) != 1 || order[0] != "GET /a b" {
		t.Fatalf("%q", order)
	}
	h := by[order[0]]
	for share, want := range map[float64]float64{.25: .5, .5: 1, .7: 5.5, .9: 10, .99: 10} {
		if got := h.quantile(share); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("quantile %v is %v, want %v", share, got, want)
		}
	}
}
