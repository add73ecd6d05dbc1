//go:build !race

package view_test

// mostOperations bounds what is done to a random session.
const mostOperations = 12
