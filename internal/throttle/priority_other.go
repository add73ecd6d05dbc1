//go:build !linux

package throttle

func lowerPriority() {}
