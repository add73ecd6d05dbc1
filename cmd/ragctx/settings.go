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
	"sync"
	"time"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/trace"
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

// setting is an option in its group, which is a heading in lists.
type setting struct {
	option

	group string
}

// option describes a setting. All values are strings.
type option struct {
	name  string
	help  string
	value func(env lookupEnv) string // the default
	check func(value string) error   // nil accepts everything
}

// kind returns the type of a setting's values, which the check shows: it accepts a value of the type
// and rejects one of the type before.
func (s option) kind() string {
	switch is := func(v string) bool { return s.check(v) == nil }; {
	case s.check == nil || is("text"):
		return "string"
	case is("true"):
		return "bool"
	case is("0.5"):
		return "number"
	case is("20"):
		return "int"
	case is("1s"):
		return "duration"
	}
	return "string"
}

// globalSettings is the group of the settings that commands of all kinds use.
const globalSettings = "Global"

// allSettings returns every setting in the order of the list, in groups.
var allSettings = sync.OnceValue(func() []setting {
	truth := checkOneOf("true", "false")
	return slices.Concat(
		grouped(globalSettings, []option{
			{"data", "data directory; the default is that of the project, or ~/.local/share/ragctx on Linux", defaultDataDir, checkData},
			{
				"store", "PostgreSQL database that holds the data, as postgres://user@host/name; empty is a file in the data directory. " +
					"The password is read from PGPASSWORD or ~/.pgpass",
				fixed(""), optional(checkStore),
			},
			{
				"index", "Weaviate cluster or PostgreSQL database that has the indexes, as weaviate://host1,host2 or " +
					"postgres://user@host/name; local keeps them in files of the data directory. The API key of a cluster is read " +
					"from RAGCTX_INDEX_KEY",
				fixed(localIndex), checkIndex,
			},
			{
				"acknowledge", "each write waits for: indexed (the database and an index in a server, unless that is away) or stored " +
					"(the database alone)",
				fixed(ackIndexed), checkOneOf(ackIndexed, ackStored),
			},
			{"namespace", "namespace, the isolation between tenants", fixed("default"), checkNamespace},
			{"server", "URL of the server to use instead of the data directory", fixed(""), optional(checkServer)},
			{"key_file", "file with the API key for the server of --server, unless RAGCTX_KEY is set", fixed(""), nil},
			{"ca_file", "file with further certificates (PEM) to trust for the server of --server", fixed(""), nil},
			{
				"insecure_http", "serves other machines without TLS, for a proxy that terminates it; commands send the API key " +
					"without TLS",
				fixed("false"), truth,
			},
			{"offline", "connects only to this machine", fixed("false"), truth},
			{"log_level", "debug, info, warn or error", fixed("info"), checkLevel},
			{"log_format", "text or json", fixed("text"), checkOneOf("text", "json")},
		}),
		grouped("Ingesting", []option{
			{
				"serve_docs", "sources that serve ingests, separated as in PATH, or a list of paths, URLs and sources. The flag " +
					"is --docs, once per source",
				fixed(""), nil,
			},
			{"watch", "serve keeps ingesting changes of these sources", fixed("false"), truth},
			{
				"poll", "interval at which watched files are checked, such as 30s; 0 uses the system's notifications",
				fixed("0"), checkPoll,
			},
			{"allow_hosts", "hosts from which pages may be fetched", fixed(""), checkHosts},
			{"fetch_rate", "requests per second to one host", fixed("2"), checkRate},
			{
				"keep_versions", "number of versions of a document that are kept, or all",
				fixed(strconv.Itoa(store.DefaultKeepVersions)), checkKeep,
			},
		}),
		grouped("Serving", []option{
			{"addr", "address of the server; port 0 picks a free port", fixed("127.0.0.1:7700"), checkAddr},
			{
				"advertise", "host and port at which other nodes of the same database reach this one; empty is addr",
				fixed(""), optional(checkAdvertise),
			},
		}, securitySettings()),
		grouped("Vectors and the embedder", []option{
			{
				"embedder", "static, auto, minilm, hashing, hashing/N, static:PATH or minilm:PATH; empty is the data directory's embedder",
				fixed(""), optional(checkEmbedder),
			},
			{"vector_graph", "vector index: native, flat or coder", fixed(vectorGraphs()[0]), checkOneOf(vectorGraphs()...)},
			{
				"recall_sample", "share of the queries on which recall is measured",
				fixed(strconv.FormatFloat(index.DefaultMonitorShare, 'g', -1, 64)), checkShare,
			},
		}, embedSettings()),
		grouped("Reranking", rerankSettings()),
		grouped("Memory", memorySettings()),
		grouped("A language model", modelSettings()),
		grouped("Procedures", procedureSettings()),
		grouped("Ledgers", packSettings()),
		grouped("Providers", providerSettings()),
		grouped("Events and traces", []option{
			{webhooksSetting, "URLs that events are sent to, a JSON list", fixed(""), nil},
			{"otlp_url", "URL of a collector of OpenTelemetry that traces of queries are sent to; empty is none", fixed(""), nil},
		}),
		grouped("Long conversations", conversationSettings()),
	)
})

// grouped puts settings into a group.
func grouped(group string, lists ...[]option) (all []setting) {
	for _, o := range slices.Concat(lists...) {
		all = append(all, setting{o, group})
	}
	return all
}

// names returns the names of options.
func names(all []option) []string {
	out := make([]string, len(all))
	for i, o := range all {
		out[i] = o.name
	}
	return out
}

// servedSettings returns the names of the settings that serve has flags for, except the global ones.
func servedSettings() (names []string) {
	for _, s := range allSettings() {
		if s.group != globalSettings && s.name != "serve_docs" {
			names = append(names, s.name)
		}
	}
	return names
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

// localIndex is the value of the setting index for files, and indexKey the secret of a cluster. The other two are values of the setting
// acknowledge.
const (
	localIndex = "local"
	indexKey   = "index_key"
	ackIndexed = "indexed"
	ackStored  = "stored"
)

// index returns the URL of the cluster that has the indexes, or "" for files.
func (s *settings) index() string {
	if v := s.k.String("index"); v != localIndex {
		return v
	}
	return ""
}

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
		f := flags.VarPF(&settingFlag{kind: s.kind()}, flagName(s.name), "", s.help)
		f.DefValue = s.value(noEnv)
		f.Annotations = map[string][]string{groupAnnotation: {s.group}}
		if s.kind() == "bool" {
			f.NoOptDefVal = "true" // the flag without a value
		}
	}
}

// noEnv is an environment without variables.
func noEnv(string) (string, bool) { return "", false }

// settingFlag is the value of a setting's flag. [settings.finish] checks it.
type settingFlag struct{ kind, value string }

// String implements pflag.Value.
func (f *settingFlag) String() string { return f.value }

// Type implements pflag.Value.
func (f *settingFlag) Type() string { return f.kind }

// Set implements pflag.Value.
func (f *settingFlag) Set(value string) error { f.value = value; return nil }

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
	indexKey string
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
	// follow is [engine.Options].Follow.
	follow bool
	// reserve is [engine.Options].Reserve.
	reserve int64
	// traced is [engine.Options].Traced.
	traced func(trace.Record)

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
	s.embedKey, s.modelKey, s.apiKey, s.indexKey = secret(env, embedKey), secret(env, modelKey), secret(env, apiKey), secret(env, indexKey)
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
