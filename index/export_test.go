package index

// Items counts the catalogued items.
func (h *Hybrid) Items() int {
	h.write.Lock()
	defer h.write.Unlock()
	return len(h.byItem)
}
