package main

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/web"
)

// apiKey is the environment variable with the client's API key, without its prefix.
const apiKey = "key"

// securitySettings are the settings of access to a server.
func securitySettings() []option {
	flag := checkOneOf("true", "false")
	return []option{
		{"console", "serves pages for people at /console", fixed("true"), flag},
		{
			"compat", "serves the APIs of other programs: true, false, or a list of " + strings.Join(api.Shapes(), ", "),
			fixed("true"), checkShapes,
		},
		{"require_keys", "requires API keys even while none exist", fixed("false"), flag},
		{"tls_cert", "file with the certificate, in PEM", fixed(""), nil},
		{"tls_key", "file with the private key of the certificate", fixed(""), nil},
		{"allow_server_hosts", "host names of the server in requests, in addition to this machine's", fixed(""), nil},
		{"allow_origins", "origins of web pages that may call the server", fixed(""), optional(checkOrigins)},
		{
			"rate_limit", "requests per second of each API key, and twice as many at once after a pause; 0 is no limit",
			fixed("0"), checkNumber,
		},
		{"concurrency_limit", "concurrent requests of each key; 0 is no limit", fixed("0"), checkUpTo(1 << 20)},
		{
			"answer_cache", "MiB of memory for the answer cache; 0 switches it off",
			fixed(strconv.Itoa(engine.DefaultAnswerCache >> 20)), checkUpTo(1 << 16),
		},
		{
			"audit_keep", "entries of the audit log that are kept; 0 writes none",
			fixed(strconv.Itoa(engine.DefaultKeepAudit)), checkUpTo(1 << 30),
		},
	}
}

func checkShapes(v string) error {
	_, err := api.ParseShapes(v)
	return err
}

func checkUpTo(most int) func(string) error {
	return func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < 0 || n > most {
			return fmt.Errorf("is %q; use a whole number from 0 to %d", ragctx.Clip(v), most)
		}
		return nil
	}
}

func checkOrigins(v string) error {
	for _, o := range commaList(v) {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != o {
			return fmt.Errorf("has %q; use a scheme and a host, such as https://app.example.com", ragctx.Clip(o))
		}
	}
	return nil
}

// commaList splits a comma-separated list, and converts it to lower case.
func commaList(v string) (list []string) {
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.ToLower(strings.TrimSpace(part)); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// secure sets who may call the server. The certificate is loaded when it listens.
func (s *settings) secure(o *api.Options) {
	number := func(name string) float64 { x, _ := strconv.ParseFloat(s.k.String(name), 64); return x } // checked
	o.RequireKeys, o.InsecureHTTP = s.k.String("require_keys") == "true", s.k.String("insecure_http") == "true"
	o.AllowHosts, o.AllowOrigins = commaList(s.k.String("allow_server_hosts")), commaList(s.k.String("allow_origins"))
	o.Compat, _ = api.ParseShapes(s.k.String("compat")) // checked
	o.Limits = api.Limits{Rate: number("rate_limit"), Concurrent: int(number("concurrency_limit"))}
}

// withConsole serves the console, unless a setting switches it off.
func (s *settings) withConsole(o *api.Options) {
	if s.k.String("console") != "true" {
		return
	}
	o.Console = func(client func(key string) *api.Client) http.Handler {
		return web.New(client, web.Options{Log: o.Log})
	}
}

// answerCache returns [engine.Options].AnswerCache, in bytes.
func (s *settings) answerCache() int {
	if n, _ := strconv.Atoi(s.k.String("answer_cache")); n > 0 { // checked
		return n << 20
	}
	return -1
}

// keepAudit returns [engine.Options].KeepAudit.
func (s *settings) keepAudit() int {
	if n, _ := strconv.Atoi(s.k.String("audit_keep")); n > 0 { // checked
		return n
	}
	return -1
}

// serverKey returns the API key for the server that the settings name; "" is none.
func (s *settings) serverKey() (string, error) {
	file := s.k.String("key_file")
	if s.apiKey != "" || file == "" {
		return s.apiKey, nil
	}
	key, err := readKeyFile(file)
	if err == nil && (key == "" || strings.ContainsAny(key, " \t\r\n")) {
		err = fmt.Errorf("%s does not hold a key and nothing else", file)
	}
	if err != nil {
		return "", asUsage(fmt.Errorf("%s: %w", s.where("key_file"), err))
	}
	return key, nil
}

// client returns the options for calling the server that the settings name.
func (s *settings) client() (o api.ClientOptions, err error) {
	if o.Key, err = s.serverKey(); err != nil {
		return o, err
	}
	o.RootCAs, err = s.trusted()
	return o, err
}

// trusted returns the certificates that can vouch for the server's; nil are the system's.
func (s *settings) trusted() (*x509.CertPool, error) {
	file := s.k.String("ca_file")
	if file == "" {
		return nil, nil //nolint:nilnil // as in tls.Config
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, asUsage(fmt.Errorf("%s: %w", s.where("ca_file"), err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the system has none
	}
	if !pool.AppendCertsFromPEM(b) {
		return nil, badUsage("%s: %s holds no certificate in PEM", s.where("ca_file"), file)
	}
	return pool, nil
}

// maySendKey refuses to send a key without TLS to another machine.
func (s *settings) maySendKey(server string) error {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "https" || httpclient.IsLoopback(u.Hostname()) || s.k.String("insecure_http") == "true" {
		return err
	}
	return badUsage("%s: %s is plain http, which would show the API key to everyone on the way; use https, or "+
		"--insecure-http on a network that you trust",
		s.where("server"), ragctx.Clip(server))
}

// certificate returns the certificate of the settings; nil is none.
func (s *settings) certificate(log *slog.Logger) (*certificate, error) {
	cert, key := s.k.String("tls_cert"), s.k.String("tls_key")
	if cert == "" && key == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	if cert == "" {
		return nil, badUsage("%s is given without tls_cert; give both", s.where("tls_key"))
	}
	if key == "" {
		return nil, badUsage("%s is given without tls_key; give both", s.where("tls_cert"))
	}
	c := &certificate{certFile: cert, keyFile: key, log: log}
	if err := c.load(); err != nil {
		return nil, badUsage("%s: %v", s.where("tls_cert"), err)
	}
	return c, nil
}

// readKeyFile returns the key in a file.
func readKeyFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+1))
	if err != nil || len(b) > maxKeyBytes {
		return "", cmp.Or(err, errors.New("is too long for a key"))
	}
	return strings.TrimSpace(string(b)), nil
}
