package facts

import "strings"

// bag collects the features of a unit, each once.
type bag struct {
	seen   map[uint32]bool
	hashes []uint32
	// names are kept for the training alone.
	keep  bool
	names []string
}

func newBag() *bag { return &bag{seen: map[uint32]bool{}} }

// add adds the feature whose name is made of the parts.
func (b *bag) add(parts ...string) {
	h := uint32(2166136261) // FNV-1a
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint32(p[i])) * 16777619
		}
	}
	if b.put(h) && b.keep {
		b.names = append(b.names, strings.Join(parts, ""))
	}
}

// put adds a feature, and reports whether it is new.
func (b *bag) put(h uint32) bool {
	if b.seen[h] {
		return false
	}
	b.seen[h] = true
	b.hashes = append(b.hashes, h)
	return true
}

// join adds the features of another bag.
func (b *bag) join(other *bag) {
	for i, h := range other.hashes {
		if b.put(h) && b.keep {
			b.names = append(b.names, other.names[i])
		}
	}
}

// when adds a feature that is there or not.
func (b *bag) when(yes bool, name string) {
	if yes {
		b.add(name)
	}
}

func (b *bag) reset() {
	clear(b.seen)
	b.hashes, b.names = b.hashes[:0], nil
}

// bounds are from which numbers on a count has another name.
var bounds = [...]int{0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 50}

var boundNames = [len(bounds)]string{"0", "1", "2", "3", "4", "6", "8", "11", "15", "20", "30", "50"}

// roughly names a count.
func roughly(n int) string {
	k := len(bounds) - 1
	for bounds[k] > n {
		k--
	}
	return boundNames[k]
}
