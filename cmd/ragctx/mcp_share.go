package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/ragctx/ragctx/api"
)

// share opens the backend that the settings name. Whoever has the data directory for as
// long as an editor runs also serves it to this machine's other commands, and to the same
// command of another editor.
func (s settings) share(ctx context.Context, stderr io.Writer, log *slog.Logger) (*client, error) {
	c, err := s.open(ctx, stderr)
	if err != nil || c.local == nil {
		return c, err
	}
	o := api.Options{Log: log, Version: buildVersion()}
	s.secure(&o)
	o.RequireKeys = true // commands have the token beside the data directory
	server := api.New(c.local, o)
	ln, err := listen(ctx, server, "127.0.0.1:0")
	if err == nil {
		err = c.local.Admin().Announce(ln.Addr().String(), "")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.startJobs()
	// It ends when it is closed, after the last call that is under way.
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
