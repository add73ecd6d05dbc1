package postgres

import (
	"hash/fnv"
	"sync"
)

// orders run writes of the same name one after another, and some others with them.
type orders [64]sync.Mutex

// of returns the lock of a name.
func (o *orders) of(name string) *sync.Mutex {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return &o[h.Sum32()%uint32(len(o))]
}
