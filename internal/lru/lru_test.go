package lru_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/lru"
)

// model is a list of entries, most recently used first.
type model struct {
	keys   []int
	values map[int]int // also the size
}

func (m *model) use(k int) {
	m.keys = append([]int{k}, slices.DeleteFunc(m.keys, func(x int) bool { return x == k })...)
}

func (m *model) remove(k int) {
	m.keys = slices.DeleteFunc(m.keys, func(x int) bool { return x == k })
	delete(m.values, k)
}

func (m *model) bytes() (n int) {
	for _, v := range m.values {
		n += v
	}
	return n
}

func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries, bytes := rapid.IntRange(0, 5).Draw(t, "entries"), rapid.IntRange(0, 30).Draw(t, "bytes")
		c, m := lru.New[int, int](entries, bytes), model{values: make(map[int]int)}
		key := rapid.IntRange(0, 7)
		t.Repeat(map[string]func(*rapid.T){
			"get": func(t *rapid.T) {
				k := key.Draw(t, "key")
				v, ok := c.Get(k)
				want, there := m.values[k]
				if v != want || ok != there {
					t.Fatalf("get %d: %d, %v; want %d, %v", k, v, ok, want, there)
				}
				if there {
					m.use(k)
				}
			},
			"put": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.IntRange(0, 12).Draw(t, "value")
				c.Put(k, v, v)
				m.remove(k)
				if entries == 0 || v > bytes {
					return
				}
				m.values[k] = v
				m.use(k)
				for len(m.keys) > entries || m.bytes() > bytes {
					m.remove(m.keys[len(m.keys)-1])
				}
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				c.Remove(k)
				m.remove(k)
			},
			"clear": func(*rapid.T) {
				c.Clear()
				m = model{values: make(map[int]int)}
			},
			"": func(t *rapid.T) {
				if c.Len() != len(m.keys) || c.Bytes() != m.bytes() {
					t.Fatalf("%d entries of %d bytes, want %d of %d", c.Len(), c.Bytes(), len(m.keys), m.bytes())
				}
				want := slices.Clone(m.keys)
				slices.Sort(want)
				if got := slices.Sorted(c.Keys()); !cmp.Equal(got, want) && len(want) > 0 {
					t.Fatalf("keys %v, want %v", got, want)
				}
			},
		})
	})
}
