//go:build !race

package conversation_test

// mostOperations bounds what is done to a random session.
const mostOperations = 12
