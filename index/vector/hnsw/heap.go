package hnsw

// heap is a binary min-heap of entries by sim.
type heap []entry

func (h *heap) push(e entry) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if s[parent].sim <= s[i].sim {
			return
		}
		s[parent], s[i] = s[i], s[parent]
		i = parent
	}
}

// pop removes the root and returns it.
func (h *heap) pop() entry {
	s := *h
	root, last := s[0], len(s)-1
	*h = s[:last]
	if last > 0 {
		h.replace(s[last])
	}
	return root
}

// replace replaces the root by an entry.
func (h *heap) replace(e entry) {
	s := *h
	s[0] = e
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(s) {
			return
		}
		if right := least + 1; right < len(s) && s[right].sim < s[least].sim {
			least = right
		}
		if s[i].sim <= s[least].sim {
			return
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}
