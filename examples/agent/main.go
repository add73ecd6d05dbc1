// Agent is the worked example of an agent whose conversation ragctx keeps: it answers
// questions about the files of a directory, by any model that speaks OpenAI's chat
// completions or Anthropic's messages. docs/agent-loop.md explains it.
//
//	ragctx serve &
//	OPENAI_API_KEY=... go run ./examples/agent -model gpt-5 "What does this project do?"
//
// Without a question it reads them from standard input, one per line.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/ragctx/ragctx/internal/httpclient"
)

const system = "You answer questions about the files of a directory. Read what you need before you answer, " +
	"and name the files that you rely on."

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1) //nolint:gocritic // there is nothing left to stop
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	server := flags.String("ragctx", "http://127.0.0.1:7700", "the ragctx server; RAGCTX_KEY has its key")
	protocol := flags.String("protocol", "openai", "openai or anthropic")
	api := flags.String("api", "", "the model's API, such as http://127.0.0.1:11434/v1 (default the vendor's)")
	model := flags.String("model", "", "name of the model")
	window := flags.Int("window", 128_000, "tokens that the model takes and gives")
	dir := flags.String("dir", ".", "directory of the files")
	session := flags.String("session", "agent", "the conversation, which goes on where it was")
	user := flags.String("user", "", "whose conversation it is (default nobody's)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	files, err := os.OpenRoot(*dir)
	if err != nil {
		return err
	}
	defer files.Close()
	transport := &http.Transport{DialContext: httpclient.Dial(net.Dialer{})}
	defer transport.CloseIdleConnections()
	caller := Caller{Client: &http.Client{Transport: transport}}
	m, err := newModel(caller, *protocol, *api, *model)
	if err != nil {
		return err
	}
	agent := &Agent{
		Session: &Session{Caller: caller, URL: *server, Key: os.Getenv("RAGCTX_KEY"), ID: *session, User: *user, Format: *protocol},
		Model:   m, System: system, Tools: fileTools(files.FS()), Window: *window,
	}
	questions := in
	if flags.NArg() > 0 {
		questions = strings.NewReader(strings.Join(flags.Args(), " "))
	}
	return talk(ctx, agent, questions, out)
}

// newModel returns the model that speaks a protocol.
func newModel(caller Caller, protocol, api, name string) (Model, error) {
	if name == "" {
		return nil, errors.New("there is no model; name one with -model")
	}
	switch protocol {
	case "openai":
		return OpenAI{caller, cmp.Or(api, "https://api.openai.com/v1"), os.Getenv("OPENAI_API_KEY"), name}, nil
	case "anthropic":
		return Anthropic{caller, cmp.Or(api, "https://api.anthropic.com/v1"), os.Getenv("ANTHROPIC_API_KEY"), name}, nil
	}
	return nil, fmt.Errorf("the protocol %q is unknown; use openai or anthropic", protocol)
}

// talk answers each line.
func talk(ctx context.Context, a *Agent, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		answer, err := a.Turn(ctx, lines.Text())
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}
