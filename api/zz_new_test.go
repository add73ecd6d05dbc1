package api

import "testing"

func BenchmarkZZNew(b *testing.B) {
	for b.Loop() {
		New(nil, Options{})
	}
}
