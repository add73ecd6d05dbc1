//go:build race

package keyword

// raceDetector says that tests take several times as long.
const raceDetector = true
