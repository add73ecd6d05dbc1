// Docsfolder searches the texts of a folder: the worked example of a provider that
// searches a source of its own.
//
// As a program that a running ragctx asks (see docs/providers.md for the settings):
//
//	go run ./examples/docsfolder -folder ./docs -listen 127.0.0.1:9002
//
// Or with the engine in the same program, for one session alone:
//
//	go run ./examples/docsfolder -folder ./docs "What is a session?"
package main

import (
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
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/providers/remote"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "docsfolder:", err)
		os.Exit(1) //nolint:gocritic // there is nothing left to stop
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("docsfolder", flag.ContinueOnError)
	folder := flags.String("folder", "docs", "folder of .md and .txt files")
	listen := flags.String("listen", "", "address to serve the provider on, such as 127.0.0.1:9002")
	data := flags.String("data", "", "data directory of the engine; empty is a new one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := os.OpenRoot(*folder) // a link in it leads nowhere else
	if err != nil {
		return err
	}
	defer root.Close()
	provider := Docs{root.FS()}
	if *listen != "" {
		return serve(ctx, *listen, provider, out)
	}
	if flags.NArg() == 0 {
		return errors.New("there is no question; ask one, or serve with -listen")
	}
	return ask(ctx, provider, *data, strings.Join(flags.Args(), " "), out)
}

// serve answers a ragctx until ctx ends. DOCS_SECRET is what it signs its questions with.
func serve(ctx context.Context, addr string, p ragctx.ContextProvider, out io.Writer) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "serving http://%s\n", ln.Addr())
	s := &http.Server{Handler: remote.Handler(p, os.Getenv("DOCS_SECRET")), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ask asks in a session that has added the provider.
func ask(ctx context.Context, p ragctx.ContextProvider, data, question string, out io.Writer) (err error) {
	if data == "" {
		if data, err = os.MkdirTemp("", "docsfolder"); err != nil {
			return err
		}
		defer os.RemoveAll(data)
	}
	eng, err := engine.Open(ctx, engine.Options{Dir: data})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	session := engine.SessionKey{SessionID: "example"}
	if err := eng.Sessions().AddProvider(ctx, session, resolve.Registered{Provider: p}); err != nil {
		return err
	}
	q := ragctx.NewQuery(question).WithSessionID(session.SessionID)
	answer, err := eng.Context(ctx, q)
	if err != nil {
		return err
	}
	if answer.Note != "" {
		_, err = fmt.Fprintln(out, "nothing found:", answer.Note)
		return err
	}
	_, err = fmt.Fprintln(out, answer.XML)
	return err
}
