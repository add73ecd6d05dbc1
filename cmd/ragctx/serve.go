package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/webhook"
)

const serveHelp = `Serve opens the data directory and answers the REST API until it is interrupted. Ctrl-C and
SIGTERM end it in order: requests in flight have ten seconds. SIGHUP is ignored. Other
ragctx commands on the same data directory find the server and use it. Agents use the Model
Context Protocol at /mcp; 'ragctx mcp' is for agents that start their own servers.

With --docs it ingests files and folders in the background, as jobs ('ragctx jobs'). Queries
are answered from the documents that are already stored. With --watch it also ingests later
changes, as the system reports them or, with --poll, at intervals. Unfinished jobs of an
earlier run continue.

Without API keys it serves on loopback addresses only. With keys ('ragctx keys') and a
certificate (--tls-cert, --tls-key) it may serve other machines; see docs/security.md.
RAGCTX_FIRST_KEY is the first key, an admin's, if none exists yet. With the value "new" the
server makes one and prints it once.

A data directory is refused if its database is missing, was set back, or lost a part of its
log. --accept-loss opens it with the remaining data.

With --embedder static:PATH a table of your own computes the vectors in this process, and with
--embedder minilm:PATH a model. With --embed-shape an embedding service does. It receives all
texts and queries; its key is read from ` + envPrefix + `EMBED_KEY. A data directory of another
embedder is refused, unless --reembed changes it while the server answers.

With --rerank-shape a reranking service scores the results. It receives the queries and the
texts found; its key is read from ` + envPrefix + `RERANK_KEY.

The setting providers names programs of your own that are asked for context, too. They
receive the queries. The setting webhooks names URLs that events are sent to, and --otlp-url a
collector of traces.`

const serveExample = `  ragctx serve
  ragctx serve --docs ./docs --docs ./handbook=team
  ragctx serve --docs ./docs --watch
  ragctx serve --addr 127.0.0.1:0 --data ./.ragctx
  ragctx serve --embed-shape ollama --embed-model nomic-embed-text --reembed
  ragctx serve --rerank-shape tei --rerank-url http://127.0.0.1:8080`

func newServe(env lookupEnv) *cobra.Command {
	var paths []string
	var reembed, acceptLoss bool
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the REST API, and agents at /mcp",
		Long:    serveHelp,
		Example: serveExample,
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runServe(cmd, env, paths, reembed, acceptLoss) },
	}
	addSettings(cmd.Flags(), append(servedSettings(), "insecure_http")...)
	cmd.Flags().BoolVar(&reembed, "reembed", false, "change a data directory of another embedder to the embedder of the "+
		"settings, in the background")
	cmd.Flags().BoolVar(&acceptLoss, "accept-loss", false,
		"open a data directory even if acknowledged writes are missing")
	cmd.Flags().StringArrayVar(&paths, "docs", nil,
		"PATH, URL, or either with =NAMESPACE, to ingest in the background; may be repeated (env "+envName("serve_docs")+")")
	return cmd
}

// replacedGrace is how long a server takes to end that another one has replaced. It has nothing left to write.
const replacedGrace = time.Second

func runServe(cmd *cobra.Command, env lookupEnv, paths []string, reembed, acceptLoss bool) (err error) {
	signal.Ignore(syscall.SIGHUP) // closing the terminal does not end the server, and there is no configuration to reload
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	s.acceptLoss, s.reserve, s.follow = acceptLoss, store.DefaultReserve, true
	if reembed {
		name, err := s.embedderName()
		if err != nil {
			return err
		}
		s.reembed = cmp.Or(name, builtin.DefaultName)
	}
	first, err := readInitialKey(env)
	if err != nil {
		return err
	}
	log := s.logger(cmd.ErrOrStderr(), slog.LevelInfo)
	sources, err := s.sources(paths, log)
	if err != nil {
		return err
	}
	for _, src := range sources {
		s.name(src.Paths)
	}
	closeTraces, err := s.sendTraces(log)
	if err != nil {
		return err
	}
	defer closeTraces() // after the engine
	p, err := s.engine(ctx, cmd.ErrOrStderr(), slog.LevelInfo)
	if err != nil {
		return alreadyServed(err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	eng := p.Engine
	memory := processMemory()
	large, back := forServing(env, memory)
	defer back()
	o := api.Options{Log: eng.Logger(), Version: buildVersion(), BodyMemory: bodyMemory(memory), Large: large}
	s.secure(&o)
	s.withConsole(&o)
	o.RequireKeys = o.RequireKeys || first.text != "" // which is created once the address is found to be safe
	cert, err := s.certificate(log)
	if err != nil {
		return err
	}
	if cert != nil {
		o.TLS = cert.config()
	}
	agents := mcp.New(mcp.Local(eng), mcp.Options{Log: o.Log, Version: o.Version, Changed: auditAgents(eng)})
	defer func() { err = errors.Join(err, agents.Close()) }()
	o.MCP = agents.Handler()
	var hooks *webhook.Sender
	defer func() { hooks.Close() }() // after the last request, and before the engine is closed
	if eng.Node().Leads() {
		if hooks, err = s.startWebhooks(ctx, eng); err != nil {
			return err
		}
	}
	server := api.New(eng, o)
	ln, err := listen(ctx, server, s.Addr)
	if err != nil {
		return err
	}
	if err := errors.Join(first.create(ctx, cmd.OutOrStdout(), eng), announce(eng, ln.Addr().String(), cert)); err != nil {
		return errors.Join(err, ln.Close())
	}
	greet(ctx, cmd.OutOrStdout(), s, eng, ln.Addr().String())
	var background sync.WaitGroup
	defer background.Wait() // ends before the engine is closed
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// The first query would open the indexes, too. It reports an index that cannot be opened.
	background.Go(func() { _ = eng.Indexes().Warm(ctx, s.Namespace) })
	background.Go(func() {
		replaced := eng.Node().AwaitReplaced(ctx)
		if stop(replaced); replaced != nil {
			time.AfterFunc(replacedGrace, func() { os.Exit(exitFailed) }) // it may wait for connections that are lost
		}
	})
	eng.Jobs().Start()
	if eng.Node().Leads() {
		s.ingestAll(ctx, &background, eng, sources)
	} else {
		background.Go(func() {
			if eng.Node().AwaitLead(ctx) != nil {
				return
			}
			var err error
			if hooks, err = s.startWebhooks(ctx, eng); err != nil {
				log.ErrorContext(ctx, "webhooks do not run", "error", err)
			}
			s.ingestAll(ctx, &background, eng, sources)
		})
	}
	err = server.Serve(ctx, ln)
	if replaced, ok := errors.AsType[*ragctx.RepairError](context.Cause(ctx)); ok {
		err = errors.Join(replaced, err)
	}
	return err
}

// ingestAll ingests the sources in the background, and watches them if the settings say so.
func (s *settings) ingestAll(ctx context.Context, background *sync.WaitGroup, eng *engine.Engine, sources []engine.IngestOptions) {
	log := eng.Logger()
	for _, src := range sources {
		background.Go(func() {
			ingestInBackground(ctx, eng, log, src)
			if s.k.String("watch") == "true" {
				watchInBackground(ctx, eng, log, src, s.watchOptions(log))
			}
		})
	}
}

// auditAgents returns a function that adds the changes of agents to the audit log.
func auditAgents(eng *engine.Engine) func(context.Context, mcp.Change) {
	return func(ctx context.Context, c mcp.Change) {
		eng.Admin().Audit(store.AuditEntry{
			Key: access.From(ctx).Key, Request: ragctx.RequestID(ctx), Operation: "mcp:" + c.Tool,
			Namespace: c.Namespace, Target: c.Target, Status: c.Status, Erases: c.Erased,
		})
	}
}

// announce writes the address and the certificate of the server into the lock file.
func announce(eng *engine.Engine, addr string, cert *certificate) error {
	if cert == nil {
		return eng.Node().Announce(addr, "")
	}
	cert.changed = func(pin string) {
		if err := eng.Node().Announce(addr, pin); err != nil {
			cert.log.Error("commands do not know of the new certificate", "error", err)
		}
	}
	return eng.Node().Announce(addr, cert.pin())
}

// listen opens the listener after the server's own check, before the address is announced.
func listen(ctx context.Context, server *api.Server, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address with --addr", err)
	}
	if err := server.CheckListener(ln.Addr()); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// alreadyServed adds the remedy to the error about a data directory in use.
func alreadyServed(err error) error {
	var locked *engine.LockedError
	switch {
	case !errors.As(err, &locked):
		return err
	case locked.Owner.Address != "":
		return fmt.Errorf("%w; use that server, or another directory with --data", locked)
	default:
		return withLockRemedy(locked)
	}
}

// askedFor returns whether requests need API keys, as text.
func (s *settings) askedFor(keys bool) string {
	switch {
	case keys:
		return "API keys: asked for"
	case s.k.String("require_keys") == "true":
		return "API keys: asked for, and there are none; 'ragctx keys create' makes one"
	default:
		return "API keys: none; every program of this machine is admin"
	}
}

// greet prints the address of the server and the contents of the data directory.
func greet(ctx context.Context, w io.Writer, s settings, eng *engine.Engine, addr string) {
	scheme := "http"
	if s.k.String("tls_cert") != "" {
		scheme = "https"
	}
	fmt.Fprintf(w, "ragctx serves %s://%s (stop with Ctrl-C)\n", scheme, addr)
	fmt.Fprintf(w, "data directory: %s, vector graph: %s\n", s.Data, s.VectorGraph)
	fmt.Fprintf(w, "agents: %s://%s/mcp\n", scheme, addr)
	if s.k.String("console") == "true" {
		fmt.Fprintf(w, "console: %s://%s/console\n", scheme, addr)
	}
	fmt.Fprintln(w, s.askedFor(eng.Keys().Needed()))
	if s.k.String("offline") == "true" {
		fmt.Fprintln(w, "offline: nothing but this machine is connected to")
	}
	if s.embeds() {
		fmt.Fprintf(w, "embedder: %s of %s; it is sent the texts and the questions\n", printable(s.k.String("embed_model")),
			s.k.String("embed_shape"))
	}
	if s.reranks() {
		fmt.Fprintf(w, "reranker: %s; it is sent the questions and the texts found\n", s.k.String("rerank_shape"))
	}
	s.greetProviders(w)
	s.greetStages(w)
	s.greetWebhooks(w)
	if collector := s.k.String("otlp_url"); collector != "" {
		fmt.Fprintf(w, "traces: %s; it is sent the stages of queries, without texts\n", origin(collector))
	}
	if st, err := eng.Admin().Stats(ctx, s.Namespace); err == nil {
		fmt.Fprintf(w, "namespace %s: %s, %s\n", printable(cmp.Or(s.Namespace, ragctx.DefaultNamespace)),
			amount(st.Documents, "document"), amount(st.Memories, "memory"))
	}
	if recall, approximate, err := eng.Indexes().Recall(ctx, s.Namespace); err == nil && approximate {
		fmt.Fprintf(w, "vector graph %s finds %.0f %% of the nearest neighbours (measured recall@10); flat finds all\n",
			s.VectorGraph, 100*recall)
	}
}
