package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/store"
)

// Settings come from these layers, the weakest first. The file is JSON with one value per setting.
// In the environment a setting has the prefix RAGCTX_ and capitals, as a flag dashes for
// underscores.
const (
	fromDefault = "default"
	fromProject = "project" // the working directory
	fromFile    = "file"
	fromEnv     = "env"
	fromFlag    = "flag"
)

const envPrefix = "RAGCTX_"

// setting describes one setting. All values are strings.
type setting struct {
	name  string
	help  string
	value func(env lookupEnv) string // the default
	check func(value string) error   // nil accepts everything
}

// isSwitch reports whether a setting is either true or false. Its flag without a value is true;
// --flag=false is false.
func (s setting) isSwitch() bool {
	return s.check != nil && s.check("true") == nil && s.check("false") == nil && s.check("maybe") != nil
}

// allSettings returns every setting in the order of the list.
func allSettings() []setting {
	return append([]setting{
		{"data", "data directory", defaultDataDir, checkData},
		{"addr", "address to serve on, host:port; port 0 picks a free one", fixed("127.0.0.1:7700"), checkAddr},
		{"server", "URL of the server to talk to, instead of opening the data directory", fixed(""), optional(checkServer)},
		{"namespace", "namespace, a wall between tenants", fixed("default"), checkNamespace},
		{"serve_docs", "files and folders that serve ingests, each PATH or PATH=NAMESPACE, separated as in PATH; " +
			"or a JSON list of these, of URLs and of sources", fixed(""), nil},
		{"allow_hosts", "hosts that pages may be fetched from: docs.example.com, *.example.com, host:port, an " +
			"address, or a network that names may lead to; separated by commas", fixed(""), checkHosts},
		{"fetch_rate", "requests a second to the host of a page", fixed("2"), checkRate},
		{"embedder", "embedder: static, hashing, hashing/N, or static:PATH for a table of your own; empty is that " +
			"of the data directory", fixed(""), optional(checkEmbedder)},
		{"vector_graph", "vector index: " + orList(vectorGraphs()), fixed(vectorGraphs()[0]), checkOneOf(vectorGraphs()...)},
		{"recall_sample", "share of the questions whose vector search is done again exactly, in the background, to " +
			"measure what it finds; 0 measures nothing", fixed(strconv.FormatFloat(index.DefaultMonitorShare, 'g', -1, 64)), checkShare},
		{"keep_versions", "versions of a document that are kept for questions about earlier times, with the " +
			"current one; all keeps them all", fixed(strconv.Itoa(store.DefaultKeepVersions)), checkKeep},
		{
			"offline", "true connects to nothing but this machine: no pages, and no services elsewhere", fixed("false"),
			checkOneOf("true", "false"),
		},
		{"log_level", "debug, info, warn or error", fixed("info"), checkLevel},
		{"log_format", "text or json", fixed("text"), checkOneOf("text", "json")},
	}, slices.Concat(callSettings(), watchSettings(), serving())...)
}

// serving returns the groups of settings for the engine and the server of a data directory.
func serving() []setting {
	return slices.Concat(securitySettings(), embedSettings(), rerankSettings(), memorySettings(), modelSettings(),
		procedureSettings(), packSettings(), providerSettings(), conversationSettings(), answerSettings())
}

// servedSettings returns the names of these settings.
func servedSettings() []string { return names(serving()) }

// names returns the names of settings.
func names(all []setting) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s.name
	}
	return out
}

// secret reads a key of a service from the environment.
func secret(env lookupEnv, name string) string {
	v, _ := env(envName(name))
	return strings.TrimSpace(v)
}

// refused adds to an error of a service's client the setting that it is about: the key, which the
// user knows as key, or one that begins with prefix. Other errors stay unchanged.
func (s *settings) refused(err error, key, prefix string) error {
	f, ok := errors.AsType[*ragctx.FieldError](err)
	switch {
	case !ok:
		return err
	case f.Field == "key":
		return badUsage("%s: %s", key, f.Problem)
	default:
		return badUsage("%s: %s", s.where(prefix+f.Field), f.Problem)
	}
}

func fixed(v string) func(lookupEnv) string { return func(lookupEnv) string { return v } }

// vectorGraphs are the kinds of vector index, the default first.
func vectorGraphs() []string { return []string{"native", "flat", "coder"} }

func flagName(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

func envName(setting string) string { return envPrefix + strings.ToUpper(setting) }

// besideServer are the settings with flags on every command that calls a server.
var besideServer = []string{"insecure_http", "key_file", "ca_file"}

// addSettings adds flags for settings. [load] reads their values, so the flags have empty defaults.
func addSettings(flags *pflag.FlagSet, names ...string) {
	if slices.Contains(names, "server") {
		names = append(slices.Clip(names), besideServer...)
	}
	for _, s := range allSettings() {
		if !slices.Contains(names, s.name) {
			continue
		}
		help := fmt.Sprintf("%s (env %s)", s.help, envName(s.name))
		flags.String(flagName(s.name), "", help)
		if s.isSwitch() {
			flags.Lookup(flagName(s.name)).NoOptDefVal = "true" // the flag without a value
		}
	}
}

// settings are the values for one run of a command.
type settings struct {
	Data, Addr, Server, Namespace, VectorGraph string

	// KeepVersions is [engine.Options].KeepVersions.
	KeepVersions int

	Level  slog.Level
	Format string

	RerankTop     int
	RerankTimeout time.Duration
	rerankKey     string

	embedKey string
	modelKey string
	apiKey   string

	// mayCreate says that the command may create a data directory.
	mayCreate bool

	// named are URLs in the arguments, which allow their hosts.
	named        []string
	ignoreRobots bool

	// reembed names the embedder to change to when the data directory is opened in this process;
	// empty is none.
	reembed string
	// acceptLoss is [engine.Options].AcceptLoss.
	acceptLoss bool
	// reserve is [engine.Options].Reserve.
	reserve int64

	File       string // the settings file, whether it exists or not
	Found      bool   // whether it exists
	FileOrigin string // the origin of File

	env    lookupEnv
	k      *koanf.Koanf
	origin map[string]string
}

// load reads the settings for cmd.
func load(cmd *cobra.Command, env lookupEnv) (settings, error) {
	s := settings{mayCreate: mayCreate(cmd), env: env, k: koanf.New("\x00"), origin: make(map[string]string)}
	var err error
	if s.File, s.FileOrigin, err = configPath(cmd, env); err != nil {
		return s, err
	}
	file, err := s.readFile()
	if err != nil {
		return s, err
	}
	for _, l := range []layer{
		{fromDefault, defaults(env)},
		{fromProject, project(cmd, env)},
		{fromFile, file},
		{fromEnv, environment(env)},
		{fromFlag, changed(cmd.Flags())},
	} {
		if err := s.k.Load(l, nil); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
		for name := range l.values {
			s.origin[name] = l.name
		}
	}
	return s, s.finish(env)
}

// finish checks the values and copies them into fields.
func (s *settings) finish(env lookupEnv) error {
	for _, d := range allSettings() {
		if d.check == nil {
			continue
		}
		if err := d.check(s.k.String(d.name)); err != nil {
			return asUsage(fmt.Errorf("%s: %w", s.where(d.name), err))
		}
	}
	if s.k.String("offline") == "true" {
		httpclient.GoOffline() // before the first connection
	}
	s.readReranker(env)
	s.embedKey, s.modelKey, s.apiKey = secret(env, embedKey), secret(env, modelKey), secret(env, apiKey)
	abs, err := filepath.Abs(s.k.String("data"))
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	s.Data, s.Addr, s.Namespace = abs, s.k.String("addr"), s.k.String("namespace")
	s.VectorGraph, s.Format = s.k.String("vector_graph"), s.k.String("log_format")
	s.Server = s.k.String("server")
	if s.KeepVersions, err = strconv.Atoi(s.k.String("keep_versions")); err != nil {
		s.KeepVersions = -1 // all
	}
	// --data names another directory than that of the server in the environment.
	if s.origin["data"] == fromFlag && s.origin["server"] != fromFlag {
		s.Server = ""
	}
	if s.Server != "" && s.origin["namespace"] == fromDefault {
		s.Namespace = "" // the key's namespace, if it has only one; only the server knows it
	}
	return s.Level.UnmarshalText([]byte(s.k.String("log_level")))
}

// gauge returns the options for repeating searches exactly, to measure their recall.
func (s *settings) gauge() index.MonitorOptions {
	share, _ := strconv.ParseFloat(s.k.String("recall_sample"), 64) // checked
	if share == 0 {
		share = -1 // none; there 0 is the default
	}
	return index.MonitorOptions{Share: share}
}

// where returns a setting's name as the user wrote it.
func (s *settings) where(name string) string {
	switch s.origin[name] {
	case fromFlag:
		return "--" + flagName(name)
	case fromEnv:
		return envName(name)
	case fromFile:
		return fmt.Sprintf("%s in %s", name, s.File)
	default:
		return name
	}
}

// logger returns a logger to w at the level of the settings, or at least at floor if none is set.
func (s settings) logger(w io.Writer, floor slog.Level) *slog.Logger {
	level := s.Level
	if s.origin["log_level"] == fromDefault {
		level = max(level, floor)
	}
	o := &slog.HandlerOptions{Level: level}
	if s.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
