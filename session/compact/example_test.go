package compact_test

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/compact"
)

func Example() {
	var messages []ragctx.Message
	for i := range 60 {
		m := ragctx.TextMessage(ragctx.RoleUser, fmt.Sprintf("Look at part %d of the parser, please, and never change its interface.", i))
		if i%2 == 1 {
			m = ragctx.TextMessage(ragctx.RoleAssistant, fmt.Sprintf("Part %d is as it should be; I have looked at all of its functions.", i))
		}
		m.ID = fmt.Sprint("m", i)
		messages = append(messages, m)
	}
	by, err := compact.New(compact.Options{NewID: func() string { return "c1" }})
	if err != nil {
		panic(err)
	}
	if !by.Options().Due(170_000, 200_000) {
		return
	}
	res, err := by.Compact(context.Background(), compact.Conversation{Messages: messages})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(messages), "messages,", len(res.Messages), "shown; the summary stands for", res.Record.From, "to", res.Record.To)
	records := []compact.Record{*res.Record}
	fmt.Println(len(compact.Apply(messages, records)), len(compact.Apply(messages, compact.Undo(records))))
	// Output:
	// 60 messages, 23 shown; the summary stands for m2 to m39
	// 23 60
}
