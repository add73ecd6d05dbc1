package main

import (
	"math"
	"path/filepath"
	"testing"
)

// TestData: equal seeds give equal vectors, which can be written, read and found.
func TestData(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set")
	if err := writeClustered(set+baseFile, set+queryFile, 500, 20, 32, 1); err != nil {
		t.Fatal(err)
	}
	base, err := openMatrix(set + baseFile)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := openMatrix(set + queryFile)
	if err != nil {
		t.Fatal(err)
	}
	if base.rows != 500 || base.dim != 32 || queries.rows != 20 {
		t.Fatalf("%d × %d, %d queries", base.rows, base.dim, queries.rows)
	}
	for range 2 { // the second one reads its file
		truth, err := newTruth(set, base, queries, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"graph", "native", "flat", "chromem-go"} {
			x, err := newIndex(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.build(t.Context(), base, 1); err != nil {
				t.Fatal(err)
			}
			var ids []uint32
			for i := range queries.rows {
				if ids, err = x.exact(t.Context(), queries.row(i), k, ids); err != nil {
					t.Fatal(err)
				}
			}
			if r := truth.recall(ids); r != 1 {
				t.Errorf("%s: recall %.3f of an exact scan", name, r)
			}
			if c, ok := x.(*storedIndex); ok {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestCostAt(t *testing.T) {
	x := &indexReport{Points: []*point{
		{Ef: 0, Recall: .5, CPU: 1},
		{Ef: 20, Recall: .9, CPU: 100},
		{Ef: 40, Recall: .99, CPU: 400},
	}}
	for _, c := range []struct{ recall, want float64 }{
		{.8, 100}, // the least width finds more
		{.9, 100},
		{1 - math.Sqrt(.1*.01), 200}, // halfway, by logarithms
		{.99, 400},
		{.999, 0},
	} {
		if got := x.costAt(c.recall); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("at %.3f: %.3f, want %.3f", c.recall, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, v := range map[float64][]float64{0: nil, 2: {3, 1, 2}, 2.5: {4, 1, 3, 2}} {
		if got := median(v); got != want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}
