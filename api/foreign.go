package api

import (
	"cmp"
	"strings"
)

// foreignError returns an error as the clients of another API read it: its media type and its body. It
// returns false for ragctx's own routes.
func foreignError(path string, p *Problem) (mediaType string, body any, foreign bool) {
	if strings.HasPrefix(path, mem0Prefix+"/") {
		full := *p
		full.Detail = cmp.Or(p.Error(), p.Detail) // clients show the detail alone
		return jsonType, &full, true
	}
	return "", nil, false
}
