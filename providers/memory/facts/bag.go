package facts

import "strings"

// bag is the set of features of a unit.
type bag struct {
	seen   map[uint32]bool
	hashes []uint32
	// names is recorded only for training.
	keep  bool
	names []string
}

func newBag() *bag { return &bag{seen: map[uint32]bool{}} }

// add adds the feature whose name is the joined parts.
func (b *bag) add(parts ...string) {
	if b.put(hashOf(parts...)) && b.keep {
		b.names = append(b.names, strings.Join(parts, ""))
	}
}

// has reports whether the bag has the feature.
func (b *bag) has(name string) bool { return b.seen[hashOf(name)] }

// hashOf returns the FNV-1a hash of the joined parts.
func hashOf(parts ...string) uint32 {
	h := uint32(2166136261)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint32(p[i])) * 16777619
		}
	}
	return h
}

// put adds a feature and reports whether it is new.
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

// when adds the feature if yes is true.
func (b *bag) when(yes bool, name string) {
	if yes {
		b.add(name)
	}
}

func (b *bag) reset() {
	clear(b.seen)
	b.hashes, b.names = b.hashes[:0], nil
}

// bounds are the lower bounds of the buckets into which counts are sorted.
var bounds = [...]int{0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 50}

var boundNames = [len(bounds)]string{"0", "1", "2", "3", "4", "6", "8", "11", "15", "20", "30", "50"}

// bucketName returns the name of a count's bucket.
func bucketName(n int) string {
	k := len(bounds) - 1
	for bounds[k] > n {
		k--
	}
	return boundNames[k]
}
