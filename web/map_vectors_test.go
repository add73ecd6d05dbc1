package web

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// cloud returns unit vectors around two directions, with one pair of equals and one that is like no other.
func cloud(n, dims int) vectors {
	r := rand.New(rand.NewPCG(9, 9)) //nolint:gosec // a test
	x := vectors{dims: dims}
	for i := range n {
		v := make([]float32, dims)
		for j := range v {
			v[j] = float32(r.NormFloat64()) * 0.1
		}
		v[i%2]++
		unit(v)
		x.all = append(x.all, v...)
	}
	copy(x.row(7), x.row(8))
	clear(x.row(20))
	x.row(20)[dims-1] = 1
	return x
}

func TestMapOfVectors(t *testing.T) {
	x := cloud(1000, 32)
	p := principal(x)
	if got := dot(p.axes[0], p.axes[1]); math.Abs(got) > 1e-4 {
		t.Errorf("the axes have the cosine %v", got)
	}
	// Most of the variance is between the two directions: the first axis tells them apart.
	apart := 0
	for i := range 1000 {
		if (p.at(x.row(i))[0] > 0) == (p.at(x.row(0))[0] > 0) == (i%2 == 0) {
			apart++
		}
	}
	if apart < 990 {
		t.Errorf("the first axis tells %d of 1000 apart", apart)
	}
	if out := x.outliers(1); out[0].i != 20 {
		t.Errorf("outlier %v", out)
	}
	if pairs := x.duplicates(0.999, 3); len(pairs) != 1 || pairs[0].a != 7 || pairs[0].b != 8 {
		t.Errorf("duplicates %v", pairs)
	}
	if near := x.nearest(x.row(7), 2); near[0].i != 7 || near[1].i != 8 {
		t.Errorf("nearest %v", near)
	}
}

func TestSampleIsEven(t *testing.T) {
	for _, n := range []int{0, 1, maxPoints, maxPoints + 1, 3*maxPoints + 7} {
		got := 0
		for i := range n {
			if sampled(i, i+1, n) {
				got++
			}
		}
		if got != min(n, maxPoints) {
			t.Errorf("%d of %d chunks", got, n)
		}
	}
}

// TestMapsEnd: a map is made once, ends with its lifetime, and the oldest makes room.
func TestMapsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		c := mapCache{all: make(map[string]*vectorMap)}
		get := func(name string) *vectorMap {
			m := c.of(name, time.Now(), func(context.Context, *vectorMap) error { made++; return nil })
			<-m.done
			return m
		}
		get("a")
		get("a")
		if made != 1 {
			t.Errorf("made %d times", made)
		}
		time.Sleep(mapLifetime + time.Second)
		get("a")
		if made != 2 {
			t.Errorf("after its lifetime made %d times", made)
		}
		for _, name := range []string{"b", "c", "d", "e"} {
			time.Sleep(time.Second)
			get(name)
		}
		if _, kept := c.all["a"]; kept || len(c.all) != maxMaps {
			t.Errorf("%d maps are kept", len(c.all))
		}
	})
}
