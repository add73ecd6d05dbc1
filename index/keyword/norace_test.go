//go:build !race

package keyword

const raceDetector = false
