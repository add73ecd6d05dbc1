package main

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestMemoryLimit(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"None":     {nil, math.MaxInt64},
		"NoLimit":  {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, math.MaxInt64},
		"Group":    {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "268435456\n"}, 256 << 20},
		"Around":   {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n", "sys/fs/cgroup/a/memory.max": "500\n"}, 500},
		"HostPath": {map[string]string{"proc/self/cgroup": "0::/../../host/x\n", "sys/fs/cgroup/memory.max": "700\n"}, 700},
		"Version1": {map[string]string{
			"proc/self/cgroup": "3:cpu:/a\n2:memory:/a\n1:name=systemd:/a\n0::/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   "900\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
			"sys/fs/cgroup/cpu/memory.limit_in_bytes":        "1\n",
			"sys/fs/cgroup/unified/a/memory.limit_in_bytes":  "1\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "1\n",
		}, 900},
		"Machine":  {map[string]string{"proc/meminfo": "MemTotal:        2048 kB\nMemFree:  1 kB\n"}, 2 << 20},
		"Smaller":  {map[string]string{"proc/meminfo": "MemTotal:        2048 kB\n", "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n"}, 1000},
		"Nonsense": {map[string]string{"proc/self/cgroup": "x\n\n0::\n", "sys/fs/cgroup/memory.max": "-5"}, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			root := make(fstest.MapFS)
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := memoryLimit(root); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}
