package compact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
)

// session10k is a session of 10,000 messages, half of them calls of tools and their
// outputs.
func session10k() []ragctx.Message {
	var out []ragctx.Message
	for i := len(out); len(out) < 10_000; i++ {
		id := fmt.Sprint("call", i)
		out = append(out,
			ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("Please look at file %d and tell me what is wrong with it. It must not use the network.", i)),
			use(id, "read_file", fmt.Sprintf(`{"path":"pkg/part%d/file%d.go","limit":200}`, i%100, i)),
			result(id, strings.Repeat(fmt.Sprintf("func f%d() error { return nil } // some code of a file\n", i), 8)),
			ragctx.TextMessage(ragctx.RoleAssistant, fmt.Sprintf("File %d opens a connection. I decided to use the cache instead. The next one is ready to be read.", i)),
		)
	}
	return numbered(out)
}

func BenchmarkCompact10k(b *testing.B) {
	messages := session10k()
	counter, err := tokens.New("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	costs := session.Scale{Counter: counter}.Messages(messages)
	for name, known := range map[string][]int{"costs known": costs, "costs counted": nil} {
		b.Run(name, func(b *testing.B) {
			c, err := compact.New(compact.Options{Counter: counter, Strategy: compact.Extractive})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				res, err := c.Compact(context.Background(), compact.Conversation{Messages: messages, Costs: known})
				if err != nil || res.Record == nil {
					b.Fatal(res.Reason, err)
				}
			}
		})
	}
}
