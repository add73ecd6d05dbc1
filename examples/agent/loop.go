package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Agent answers a user. Its session is ragctx's, its model a vendor's, and between the two
// there is nothing but this loop. It is for one turn at a time.
type Agent struct {
	Session *Session
	Model   Model
	System  string
	Tools   []Tool
	// Window is how many tokens the model takes and gives; Answer of them are for what it
	// says, 0 is 4,096.
	Window, Answer int
	// Calls is how often the model is called in a turn; the last time it may use no tool. 0
	// is 20.
	Calls int

	used int // tokens that the model counted in its last call
}

// Model is a language model behind a vendor's protocol. Messages are in its form.
type Model interface {
	// User is what a user says, Results what calls of tools came to.
	User(text string) json.RawMessage
	Results(results []Result) []json.RawMessage
	// Definitions are tools as the model is told of them.
	Definitions(tools []Tool) []json.RawMessage
	// Call asks for what comes next. It fails with errTooLong where that is more than fits.
	Call(ctx context.Context, r Request) (Reply, error)
}

// Request is what a model is sent.
type Request struct {
	Shown  Shown
	Tools  []json.RawMessage
	Answer int // tokens of the answer
	Final  bool
}

// Reply is what a model says.
type Reply struct {
	Message json.RawMessage // in full, to be kept as it is
	Text    string
	Calls   []Call
	Used    int // tokens that it was sent, by its own count
}

// Call is a call of a tool.
type Call struct {
	ID, Name string
	Input    json.RawMessage
}

// Result is what came of a call.
type Result struct {
	Call   Call
	Text   string
	Failed bool
}

var errTooLong = errors.New("the model takes less than it was sent")

// Turn answers what the user says.
func (a *Agent) Turn(ctx context.Context, said string) (string, error) {
	if err := a.Session.Append(ctx, a.Model.User(said)); err != nil {
		return "", err
	}
	for calls := 1; ; calls++ {
		reply, err := a.ask(ctx, calls >= cmp.Or(a.Calls, 20))
		if err != nil {
			return "", err
		}
		if err := a.Session.Append(ctx, reply.Message); err != nil {
			return "", err
		}
		if len(reply.Calls) == 0 {
			return reply.Text, a.Session.Complete(ctx, said, reply.Text)
		}
		results := a.Model.Results(a.use(ctx, reply.Calls))
		if err := a.Session.Append(ctx, results...); err != nil {
			return "", err
		}
	}
}

// ask asks the model what comes next. Where ragctx has counted less than the model does,
// it is sent less. What the last call cost is told once: the next view may be a shorter one.
func (a *Agent) ask(ctx context.Context, final bool) (Reply, error) {
	r := Request{Tools: a.Model.Definitions(a.Tools), Answer: cmp.Or(a.Answer, 4096), Final: final}
	for window := a.Window; ; window -= window / 8 {
		used := a.used
		a.used = 0
		var err error
		if r.Shown, err = a.Session.Assemble(ctx, a.System, r, window, used); err != nil {
			return Reply{}, err
		}
		reply, err := a.Model.Call(ctx, r)
		if errors.Is(err, errTooLong) && window > a.Window/2 {
			continue
		}
		if final && len(reply.Calls) > 0 {
			err = errors.New("the model comes to no answer")
		}
		a.used = reply.Used
		return reply, err
	}
}

// use runs tools in parallel. The model reads the error of a failed call.
func (a *Agent) use(ctx context.Context, calls []Call) []Result {
	out := make([]Result, len(calls))
	var wait sync.WaitGroup
	for i, c := range calls {
		wait.Go(func() {
			text, err := a.run(ctx, c)
			if err != nil {
				text = err.Error()
			}
			out[i] = Result{c, text, err != nil}
		})
	}
	wait.Wait()
	return out
}

func (a *Agent) run(ctx context.Context, c Call) (string, error) {
	for _, t := range a.Tools {
		if t.Name == c.Name {
			return t.Run(ctx, c.Input)
		}
	}
	return "", fmt.Errorf("there is no tool %q", c.Name)
}
