package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/ragctx/ragctx/api"
)

// share opens a client. If it opens the data directory in this process, it also serves it to the
// other commands of this machine, because an editor keeps this process running for long.
func (s settings) share(ctx context.Context, stderr io.Writer, log *slog.Logger) (*client, error) {
	c, err := s.open(ctx, stderr)
	if err != nil || c.local == nil {
		return c, err
	}
	o := api.Options{Log: log, Version: buildVersion()}
	s.secure(&o)
	o.RequireKeys = true // commands read the token in the data directory
	server := api.New(c.local, o)
	ln, err := listen(ctx, server, "127.0.0.1:0")
	if err == nil {
		err = c.local.Node().Announce(ln.Addr().String(), "")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.startJobs()
	// The server ends when the client is closed, after the calls in progress.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln) }()
	rest := c.close
	c.close = func() error {
		stop()
		return errors.Join(<-served, rest())
	}
	return c, nil
}
