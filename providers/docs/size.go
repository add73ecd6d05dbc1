package docs

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
)

// units are the units of sizes, in lower case.
var units = []struct {
	name  string
	bytes float64
}{
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"kb", 1e3},
	{"mb", 1e6},
	{"gb", 1e9},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"b", 1},
}

// ParseSize parses a positive number of bytes: "4096", "512 KiB", "1.5MB".
func ParseSize(s string) (int64, error) {
	number, unit := strings.ToLower(strings.TrimSpace(s)), 1.0
	for _, u := range units {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.ContainsAny(number, "xpin_") || n*unit < 1 || n*unit > math.MaxInt64/2 || n*unit != math.Trunc(n*unit) {
		return 0, fmt.Errorf("is %q; use a number of bytes, or a size such as 8MiB", ragctx.Clip(s))
	}
	return int64(n * unit), nil
}
