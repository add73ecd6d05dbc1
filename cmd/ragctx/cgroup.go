package main

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// memoryLimit returns how many bytes the control group of this process may have, or those
// around it, as Linux tells under root; [math.MaxInt64] where there is no limit, or no
// control group.
func memoryLimit(root fs.FS) int64 {
	least := int64(math.MaxInt64)
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
		// In a container the path may be the host's; what is mounted is then the group itself.
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
