//go:build race

package view_test

// mostOperations of a random session are fewer under the race detector, with which they
// take several times as long.
const mostOperations = 4
