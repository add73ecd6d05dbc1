// Crm shows the model the CRM account of the user who asks, before all else: the
// worked example of a provider that does not search.
//
// As a program that a running ragctx asks (see docs/providers.md for the settings):
//
//	go run ./examples/crm -listen 127.0.0.1:9001
//
// Or with the engine in the same program:
//
//	go run ./examples/crm -user ann "Can I add another seat?"
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
		fmt.Fprintln(os.Stderr, "crm:", err)
		os.Exit(1) //nolint:gocritic // there is nothing left to stop
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("crm", flag.ContinueOnError)
	accounts := flags.String("accounts", "examples/crm/testdata/accounts.json", "file of the accounts")
	listen := flags.String("listen", "", "address to serve the provider on, such as 127.0.0.1:9001")
	user := flags.String("user", "", "who asks")
	data := flags.String("data", "", "data directory of the engine; empty is a new one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat(*accounts); err != nil {
		return fmt.Errorf("%w; name the file of the accounts with -accounts", err)
	}
	provider := Snapshot{fileCRM(*accounts)}
	if *listen != "" {
		return serve(ctx, *listen, provider, out)
	}
	if flags.NArg() == 0 {
		return errors.New("there is no question; ask one, or serve with -listen")
	}
	return ask(ctx, provider, *data, *user, strings.Join(flags.Args(), " "), out)
}

// serve answers a ragctx until ctx ends. CRM_SECRET is what it signs its questions with.
func serve(ctx context.Context, addr string, p ragctx.ContextProvider, out io.Writer) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "serving http://%s\n", ln.Addr())
	s := &http.Server{Handler: remote.Handler(p, os.Getenv("CRM_SECRET")), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ask asks an engine in this process, which has the provider beside its own.
func ask(ctx context.Context, p ragctx.ContextProvider, data, user, question string, out io.Writer) (err error) {
	if data == "" {
		if data, err = os.MkdirTemp("", "crm"); err != nil {
			return err
		}
		defer os.RemoveAll(data)
	}
	eng, err := engine.Open(ctx, engine.Options{
		Dir: data,
		// Required gives the snapshot its place before everything that was found.
		Providers: []resolve.Registered{{Provider: p, Required: true}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	q := ragctx.NewQuery(question)
	q.UserID = user
	answer, err := eng.Context(ctx, q)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, answer.XML)
	return err
}
