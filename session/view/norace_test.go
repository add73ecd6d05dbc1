//go:build !race

package view_test

// mostOperations bounds the operations on a random session.
const mostOperations = 12
