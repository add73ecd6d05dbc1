package session_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// A step of an agent is trace while its execution runs, and is not shown afterwards.
func Example() {
	call := ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: "1", Name: "weather", Input: []byte(`{"in":"Oslo"}`)}}}
	result := ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{{Type: ragctx.BlockToolResult, ToolUseID: "1", Content: ragctx.Text("rain")}}}
	run := session.Execution{ID: "e1", AgentID: "forecaster"}

	var c session.Context
	c = c.WithAppendedMessages(ragctx.TextMessage(ragctx.RoleUser, "How is the weather in Oslo?"))
	c = c.WithStep(session.Step{Execution: run, ID: "s1"}, call, result)
	show(c, run)
	c = c.WithStep(session.Step{Execution: run, ID: "s2", Final: true}, ragctx.TextMessage(ragctx.RoleAssistant, "It rains."))
	show(c, session.Execution{}) // the next execution has not begun
	// Output:
	// user assistant tool
	// user assistant
}

func show(c session.Context, e session.Execution) {
	messages, err := session.DefaultCompiler().Compile(context.Background(), c, e)
	if err != nil {
		fmt.Println(err)
	}
	roles := make([]string, len(messages))
	for i, m := range messages {
		roles[i] = string(m.Role)
	}
	fmt.Println(strings.Join(roles, " "))
}
