package hnsw

const (
	lockStripes = 512
	// ScanBelow is how many vectors are scanned.
	ScanBelow = 4096
)

type family struct{}
type scratch struct{}

func (g *Graph) newScratch() *scratch { return nil }

func (g *Graph) join(*directory, uint32, uint32) {}
