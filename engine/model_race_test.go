//go:build race

package engine_test

// defaultModelOps is fewer under the race detector, with which SQLite is ten
// times slower.
const defaultModelOps = 500
