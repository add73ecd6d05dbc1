package main

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// memoryLimit returns how many bytes of memory this process may use: the smallest of the machine's
// memory and the limits of its control groups, read from the files of Linux under root.
// [math.MaxInt64] means unknown.
func memoryLimit(root fs.FS) int64 {
	least := machineMemory(root)
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mounted, file := "sys/fs/cgroup", "memory.max" // version 2
		switch fields[1] {
		case "":
		case "memory":
			mounted, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the path may be the host's; the mounted root is then the group itself.
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			text, _ := fs.ReadFile(root, path.Join(mounted, dir, file))
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				least = min(least, n)
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// machineMemory returns the machine's memory; [math.MaxInt64] means unknown.
func machineMemory(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if total, is := strings.CutPrefix(line, "MemTotal:"); is {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(total), " kB"), 10, 64)
			if err == nil && kilobytes > 0 && kilobytes < math.MaxInt64>>10 {
				return kilobytes << 10
			}
		}
	}
	return math.MaxInt64
}
