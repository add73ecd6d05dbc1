package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// backend is what commands work on: an engine in this process, or a client of
// the server that has the data directory.
type backend interface {
	engine.Lister
	jobRunner
	*client
	*client
	assembler
	*client
	*client
	*client
	AuditLog(ctx context.Context, f store.AuditFilter) ([]store.AuditEntry, error)
	packBuilder
	*client
	*client
	// Status tells how the data directory is doing.
	Status(ctx context.Context) (api.Status, error)
	Context(ctx context.Context, q ragctx.ContextQuery) (resolve.Answer, error)
	// Explain says why an answer is empty.
	Explain(ctx context.Context, q ragctx.ContextQuery) (engine.Explanation, error)
	// Document returns a document with its text and chunks; version 0 is the
	// current one.
	Document(ctx context.Context, namespace, id string, version int) (api.Document, error)
	DeleteDocument(ctx context.Context, namespace, id string) error
	Duplicates(ctx context.Context, namespace, prefix string, limit int) (api.DuplicateList, error)
	Remember(ctx context.Context, m memory.Memory) (memory.Memory, store.Status, error)
	// ingest does what [engine.Ingest] does, as a job that p is told of.
	ingest(ctx context.Context, o engine.IngestOptions, p progress) (engine.IngestReport, error)
	// sync does it again, leaving as little trace of it as it can.
	sync(ctx context.Context, o engine.IngestOptions) (engine.IngestReport, error)
	// CheckUp begins a job whose result is an [engine.Checkup].
	CheckUp(ctx context.Context, o engine.DoctorOptions) (engine.Job, error)
	// ReembedAs begins a job that changes to a built-in embedder, to the embedding
	// service of the settings (see [engine.RemoteName]), or to a table by its path.
	ReembedAs(ctx context.Context, embedder string) (engine.Job, error)
	// Snapshot writes a new file.
	Snapshot(ctx context.Context, file string, o store.SnapshotOptions) (store.SnapshotInfo, error)
}

var (
	_ backend = local{}
	_ backend = remote{}
)

// local is an engine in this process.
type local struct{ *engine.Engine }

// remote is a server.
type remote struct{ *api.Client }

// Document implements backend.
func (l local) Document(ctx context.Context, namespace, id string, version int) (api.Document, error) {
	d, text, err := l.Engine.Document(ctx, namespace, id, version)
	if err != nil {
		return api.Document{}, err
	}
	units, err := l.DocumentChunks(ctx, namespace, id, d.Version)
	return api.NewDocument(d, text, units), err
}

// A data directory that is held by a process that serves nothing is waited for:
// another command may be about to end, or a server to announce its address.
const (
	lockWait  = 2 * time.Second
	lockRetry = 50 * time.Millisecond
)

// opened is a backend and where it is.
type opened struct {
	*client

	// URL is the server's; "" is an engine in this process.
	URL   string
	PID   int // of the server's process; 0 if that is not known
	close func() error
}

// Close gives the data directory free.
func (o *client) Close() error { return o.close() }

// open returns the backend that the settings name.
func (s settings) open(ctx context.Context, stderr io.Writer) (*client, error) {
	if s.Server != "" {
		url, err := serverURL(s.Server)
		if err != nil {
			return opened{}, err
		}
		o, err := s.client()
		if err == nil && o.Key != "" {
			err = s.maySendKey(url)
		}
		if err != nil {
			return opened{}, err
		}
		return dial(url, o), nil
	}
	if !s.begins {
		if err := begun(s.Data); err != nil {
			return opened{}, err
		}
	}
	give, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		p, err := s.engine(ctx, stderr, slog.LevelWarn)
		if err == nil {
			return opened{backend: local{p.Engine}, close: p.Close}, nil
		}
		var locked *engine.LockedError
		if !errors.As(err, &locked) {
			return opened{}, err
		}
		if locked.Owner.Address != "" {
			o := dial(reach(locked.Owner))
			o.PID = locked.Owner.PID
			return o, nil
		}
		select {
		case <-time.After(lockRetry):
		case <-give.Done():
			if ctx.Err() != nil {
				return opened{}, errInterrupted
			}
			return opened{}, held(locked)
		}
	}
}

// reach says how the server of a data directory is called.
func reach(o engine.Owner) (url string, as api.ClientOptions) {
	scheme := "http://"
	if o.Certificate != "" {
		scheme = "https://"
	}
	return scheme + clientHost(o.Address), api.ClientOptions{Key: o.Token, Certificate: o.Certificate}
}

func dial(url string, o api.ClientOptions) *client {
	c := api.NewClientWith(url, o)
	return opened{backend: remote{c}, URL: url, close: func() error { c.Close(); return nil }}
}

// held says what to do about a data directory that another command has open.
func held(e *engine.LockedError) error {
	if e.Owner.PID == 0 {
		return fmt.Errorf("%w; wait until it is done, or use another directory with --data", e)
	}
	return fmt.Errorf("%w, which does not serve; wait until it is done or end it (process %d), or use another directory with --data", e, e.Owner.PID)
}

// engine opens the data directory in this process. Its jobs wait: a command that
// does not mean to do them must not have to end them.
func (s settings) engine(ctx context.Context, stderr io.Writer, floor slog.Level) (*process, error) {
	o := engine.Options{
		Dir: s.Data, VectorGraph: s.VectorGraph, KeepVersions: s.KeepVersions, RecallMonitor: s.gauge(), Logger: s.logger(stderr, floor), PauseJobs: true,
		RerankTop: s.RerankTop, RerankTimeout: s.RerankTimeout, Procedures: s.procedureGate(), Ledgers: s.ledgers(), KeepAudit: s.keepAudit(),
		AnswerCache: s.answerCache(), Conversation: s.conversation(), AcceptLoss: s.acceptLoss, Reserve: s.reserve,
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
	p := &process{close: func() { _ = closeReaders(); sites.Close(); closeEmbedder(); closeProviders(); closeStages() }}
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
		return nil, s.taken(err)
	}
	return p, nil
}

// process is an engine in this process and what it uses.
type process struct {
	*engine.Engine

	close func()
}

// Close gives the data directory free.
func (p *process) Close() error {
	defer p.close()
	return p.Engine.Close()
}

// finish adds the error of closing b to the one of using it.
func finish(c *client, err *error) {
	if cerr := c.Close(); cerr != nil {
		*err = errors.Join(*err, fmt.Errorf("close data directory: %w", cerr))
	}
}
