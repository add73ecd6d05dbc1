//go:build !linux

package lull

func demote() {}
