//go:build race

package keyword

// raceDetector is true if tests take several times as long.
const raceDetector = true
