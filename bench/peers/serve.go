package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// peer is one system. peer.py has the same interface for Python.
type peer interface {
	// setup returns the version, a description of how the system is used, and its modes: keyword,
	// vector, hybrid.
	setup() (version, text string, modes []string)
	// open opens the data in the folder store, or starts anew if it is empty.
	open(ctx context.Context, store string) error
	// ingest writes the dataset. When it returns, everything is durable and searchable.
	ingest(ctx context.Context, set dataset) error
	// search returns the k best chunks, as their numbers or as [document, ordinal].
	search(ctx context.Context, q question, k int) ([]any, error)
	close() error
}

// question is one query. Vector is nil if the embedder has none for the text; Scope "" is
// everything.
type question struct {
	Mode   string    `json:"mode"`
	Text   string    `json:"text"`
	Vector []float32 `json:"vector"`
	Scope  string    `json:"scope"`
}

type command struct {
	Do    string `json:"do"` // setup, ingest, open, search
	Set   string `json:"set"`
	Store string `json:"store"`
	K     int    `json:"k"`
	question
}

// reply is the cost of a command, in seconds of wall-clock time and of this process's CPU time.
type reply struct {
	Version string   `json:"version,omitempty"`
	Setup   string   `json:"setup,omitempty"`
	Modes   []string `json:"modes,omitempty"`
	Hits    []any    `json:"hits,omitempty"`
	Wall    float64  `json:"wall"`
	CPU     float64  `json:"cpu"`
}

// serve answers commands, one JSON object per line, until the input ends.
func serve(ctx context.Context, p peer, r io.Reader, w io.Writer) error {
	in, out := json.NewDecoder(bufio.NewReader(r)), json.NewEncoder(w)
	for {
		var c command
		if err := in.Decode(&c); err == io.EOF {
			return p.close()
		} else if err != nil {
			return err
		}
		var a reply
		err := timed(&a, func() error { return do(ctx, p, c, &a) })
		if err != nil {
			return fmt.Errorf("%s: %w", c.Do, err)
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func do(ctx context.Context, p peer, c command, a *reply) (err error) {
	switch c.Do {
	case "setup":
		a.Version, a.Setup, a.Modes = p.setup()
	case "ingest":
		err = p.ingest(ctx, dataset(c.Set))
	case "open":
		err = p.open(ctx, c.Store)
	case "search":
		a.Hits, err = p.search(ctx, c.question, c.K)
	default:
		err = errUsage
	}
	return err
}

func timed(a *reply, f func() error) error {
	cpu, start := processor(), time.Now()
	err := f()
	a.Wall, a.CPU = time.Since(start).Seconds(), (processor() - cpu).Seconds()
	return err
}

// processor returns the CPU time of this process, including garbage collection.
func processor() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
