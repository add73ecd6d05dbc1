//go:build !race

package kernel

func observe[T int8 | float32, S int32 | float32]([]T, func(int) []T, []S) {}
