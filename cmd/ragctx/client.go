package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
)

// client is the API that a command calls: that of a server, or of an engine in this process.
type client struct {
	*api.Client

	// local is the engine in this process; nil if a server has the data directory. Commands use it
	// only for what no API offers: files of this machine, progress of work that is no job, and
	// background jobs, which a command starts only if it waits for them.
	local *engine.Engine
	URL   string // of the server; empty with an engine in this process
	PID   int    // of the server's process; 0 if unknown
	close func() error
}

// open waits for a data directory that a process holds without serving it: another command may be about
// to end, or a server about to announce its address.
const (
	lockWait  = 2 * time.Second
	lockRetry = 50 * time.Millisecond
)

// Close closes the engine or the connections to the server.
func (c *client) Close() error { return c.close() }

// open returns a client of the server that the settings name or that has the data directory. If there
// is none, it opens the data directory in this process.
func (s settings) open(ctx context.Context, stderr io.Writer) (*client, error) {
	if s.Server != "" {
		url, err := serverURL(s.Server)
		if err != nil {
			return nil, err
		}
		o, err := s.client()
		if err == nil && o.Key != "" {
			err = s.maySendKey(url)
		}
		if err != nil {
			return nil, err
		}
		return dial(url, o), nil
	}
	if !s.mayCreate {
		if err := s.requireDataDir(); err != nil {
			return nil, err
		}
	}
	give, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		p, err := s.engine(ctx, stderr, slog.LevelWarn)
		if err == nil {
			return &client{Client: api.NewInside(p.Engine, api.Options{Version: buildVersion()}), local: p.Engine, close: p.Close}, nil
		}
		var locked *engine.LockedError
		if !errors.As(err, &locked) {
			return nil, err
		}
		if locked.Owner.Address != "" {
			o := dial(serverAddress(locked.Owner))
			o.PID = locked.Owner.PID
			return o, nil
		}
		select {
		case <-time.After(lockRetry):
		case <-give.Done():
			if ctx.Err() != nil {
				return nil, errInterrupted
			}
			return nil, withLockRemedy(locked)
		}
	}
}

// serverAddress returns the address of the server of a data directory, and the key and certificate for it.
func serverAddress(o engine.Owner) (url string, as api.ClientOptions) {
	scheme := "http://"
	if o.Certificate != "" {
		scheme = "https://"
	}
	return scheme + clientHost(o.Address), api.ClientOptions{Key: o.Token, Certificate: o.Certificate}
}

func dial(url string, o api.ClientOptions) *client {
	c := api.NewClientWith(url, o)
	return &client{Client: c, URL: url, close: func() error { c.Close(); return nil }}
}

// withLockRemedy adds to the error about a data directory that another command has open what to do about it.
func withLockRemedy(e *engine.LockedError) error {
	if e.Owner.PID == 0 {
		return fmt.Errorf("%w; wait until it is done, or use another directory with --data", e)
	}
	return fmt.Errorf("%w, which does not serve; wait until it is done or end it (process %d), or use another "+
		"directory with --data", e, e.Owner.PID)
}

// engine opens the data directory in this process. Jobs stay paused, so that a command that does not wait
// for them does not have to cancel them when it ends.
func (s settings) engine(ctx context.Context, stderr io.Writer, floor slog.Level) (*ownEngine, error) {
	if err := s.checkProject(); err != nil {
		return nil, err
	}
	if err := s.makeProject(stderr); err != nil {
		return nil, err
	}
	o := engine.Options{
		Dir: s.Data, Store: s.k.String("store"), Follow: s.follow, Advertise: s.k.String("advertise"),
		Index: s.index(), IndexKey: s.indexKey, AckStored: s.k.String("acknowledge") == ackStored, VectorGraph: s.VectorGraph,
		KeepVersions: s.KeepVersions, RecallMonitor: s.gauge(), Logger: s.logger(stderr,
			floor), PauseJobs: true,
		RerankTop: s.RerankTop, RerankTimeout: s.RerankTimeout, Procedures: s.procedureGate(), Ledgers: s.ledgers(),
		KeepAudit:   s.keepAudit(),
		AnswerCache: s.answerCache(), Conversation: s.conversation(), AcceptLoss: s.acceptLoss, Reserve: s.reserve, Traced: s.traced,
	}
	if err := s.useMemory(&o); err != nil {
		return nil, err
	}
	sites, err := s.sites()
	if err != nil {
		return nil, err
	}
	o.OpenSource = sites.Open
	client, err := s.reranker()
	if err != nil {
		return nil, err
	}
	m, err := s.generator()
	if err != nil {
		return nil, err
	}
	s.learn(&o, m)
	read, closeReaders, err := readers()
	if err != nil {
		return nil, err
	}
	o.Extract = read
	closeEmbedder, err := s.useEmbedder(&o)
	if err != nil {
		return nil, err
	}
	closeProviders, err := s.useProviders(&o)
	if err != nil {
		_ = closeReaders()
		closeEmbedder()
		return nil, err
	}
	closeStages, err := s.useStages(&o)
	if err != nil {
		_ = closeReaders()
		closeEmbedder()
		closeProviders()
		return nil, err
	}
	p := &ownEngine{close: func() { _ = closeReaders(); sites.Close(); closeEmbedder(); closeProviders(); closeStages() }}
	if client != nil {
		o.Reranker = client
		rest := p.close
		p.close = func() { client.Close(); rest() }
	}
	if m != nil {
		rest := p.close
		p.close = func() { m.Close(); rest() }
	}
	if p.Engine, err = engine.Open(ctx, o); err != nil {
		p.close()
		return nil, s.taken(s.unusable(err))
	}
	return p, nil
}

// ownEngine is an engine in this process and the services that it uses.
type ownEngine struct {
	*engine.Engine

	close func()
}

// Close closes the engine, then its services.
func (p *ownEngine) Close() error {
	defer p.close()
	return p.Engine.Close()
}

// finish closes c and adds the error of that to err.
func finish(c *client, err *error) {
	if cerr := c.Close(); cerr != nil {
		*err = errors.Join(*err, fmt.Errorf("close data directory: %w", cerr))
	}
}
