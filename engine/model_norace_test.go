//go:build !race

package engine_test

const defaultModelOps = 5000
