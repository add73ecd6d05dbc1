//go:build !linux

package throttle

func demote() {}
