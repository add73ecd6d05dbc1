package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	program "github.com/ragctx/ragctx/providers/remote"
)

// providersSetting is the setting with the providers that are programs of their own.
const providersSetting = "providers"

// maxProviders bounds the providers: every question goes to all of them at once.
const maxProviders = 32

func providerSettings() []option {
	return []option{
		{providersSetting, "providers behind URLs, a JSON list", fixed(""), nil},
	}
}

// providerSetting is a provider in the settings.
type providerSetting struct {
	Name        string               `json:"name"`
	URL         string               `json:"url"`
	TurnURL     string               `json:"turn_url"`
	Types       []ragctx.ContextType `json:"types"`
	Namespaces  []string             `json:"namespaces"`
	Scope       engine.Scope         `json:"scope"`
	FailureMode string               `json:"failure_mode"`
	Timeout     duration             `json:"timeout"`
	CacheTTL    duration             `json:"cache_ttl"`
	secretSource
	Priority  float64 `json:"priority"`
	Trust     float64 `json:"trust"`
	Freshness float64 `json:"freshness"`
	Required  bool    `json:"required"`
	MaxItems  int     `json:"max_items"`
	MaxBytes  int64   `json:"max_bytes"`
	Retries   *int    `json:"retries"`
}

// secretSource names the secret that signs requests. The settings do not contain it.
type secretSource struct {
	SecretEnv  string `json:"secret_env"`
	SecretFile string `json:"secret_file"`
}

// duration is a time such as "800ms" in JSON.
type duration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(b []byte) error {
	t, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a time such as 800ms or 30s", ragctx.Clip(string(b)))
	}
	*d = duration(t)
	return nil
}

// readProviders reads the setting.
func (s *settings) readProviders() ([]providerSetting, error) {
	return readPrograms[providerSetting](s, providersSetting, "provider", maxProviders,
		`[{"name": "crm", "url": "http://127.0.0.1:9000/context"}]`)
}

// readPrograms reads a setting that lists programs of a kind.
func readPrograms[T any](s *settings, name, kind string, most int, example string) ([]T, error) {
	text := strings.TrimSpace(s.k.String(name))
	if text == "" {
		return nil, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, badUsage(`%s: is not a JSON list, such as %s`, s.where(name), example)
	}
	if len(raw) > most {
		return nil, badUsage("%s: lists %d %ss; the limit is %d", s.where(name), len(raw), kind, most)
	}
	list := make([]T, len(raw))
	for i := range raw {
		if err := readStrictly(raw[i], &list[i]); err != nil {
			return nil, badUsage("%s: %s %d: %v", s.where(name), kind, i+1, err)
		}
	}
	return list, nil
}

// readStrictly reads the settings of one program, and rejects unknown fields.
func readStrictly(raw json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	switch bad, ok := errors.AsType[*json.UnmarshalTypeError](err); {
	case ok && bad.Field == "":
		return fmt.Errorf("is a %s; write a JSON object", bad.Value)
	case ok:
		return ragctx.Invalid(bad.Field, "is a %s, which it cannot be", bad.Value)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// taken adds the setting to an error about a name that is used twice.
func (s *settings) taken(err error) error {
	if errors.Is(err, ragctx.ErrConflict) && s.k.String(providersSetting) != "" {
		return badUsage("%s: %v; choose another name", s.where(providersSetting), err)
	}
	return err
}

// remoteProvider is a provider that can be closed.
type remoteProvider interface {
	ragctx.ContextProvider
	Patience() time.Duration
	Close()
}

// useProviders gives the engine the providers of the settings. Mistakes are errors only here, so
// that commands that call a server need no secrets.
func (s *settings) useProviders(o *engine.Options) (closeAll func(), err error) {
	list, err := s.readProviders()
	if err != nil {
		return nil, err
	}
	var made []remoteProvider
	closeAll = func() {
		for _, p := range made {
			p.Close()
		}
	}
	for i, set := range list {
		p, err := set.open(s.env, o)
		if err == nil && slices.ContainsFunc(made, func(m remoteProvider) bool { return m.Name() == p.Name() }) {
			err = fmt.Errorf("name: %q is there twice", p.Name())
		}
		if err != nil {
			closeAll()
			return nil, badUsage("%s: provider %d: %v", s.where(providersSetting), i+1, err)
		}
		made = append(made, p)
		r := resolve.Registered{
			Provider: p, Priority: set.Priority, Trust: set.Trust, Freshness: set.Freshness, Required: set.Required, Timeout: p.Patience(),
		}
		if set.Scope == engine.ScopeSession {
			o.SessionProviders = append(o.SessionProviders, r)
		} else {
			o.Providers = append(o.Providers, r)
		}
	}
	return closeAll, nil
}

// open makes a provider from its settings.
func (p providerSetting) open(env lookupEnv, eo *engine.Options) (remoteProvider, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	secret, err := p.secret(env)
	if err != nil {
		return nil, err
	}
	o := program.Options{
		Name: p.Name, URL: p.URL, TurnURL: p.TurnURL, Types: p.Types, Namespaces: p.Namespaces, Secret: secret,
		Timeout: time.Duration(p.Timeout), CacheTTL: time.Duration(p.CacheTTL), MaxItems: p.MaxItems,
		MaxBytes: p.MaxBytes, Logger: eo.Logger,
	}
	if p.FailureMode == "fail_closed" {
		o.FailureMode = ragctx.FailClosed
	}
	if p.Retries != nil {
		if o.Retries = *p.Retries; o.Retries == 0 {
			o.Retries = -1 // none; there 0 is the default
		}
	}
	if o.TurnURL != "" {
		return program.NewObserver(o)
	}
	return program.New(o)
}

// check finds mistakes that the provider's own checks do not see.
func (p providerSetting) check() error {
	for field, v := range map[string]float64{"priority": p.Priority, "trust": p.Trust, "freshness": p.Freshness} {
		if !(v >= 0 && v <= 1) {
			return ragctx.Invalid(field, "is %v; use 0 to 1", v)
		}
	}
	switch {
	case p.FailureMode != "" && p.FailureMode != "best_effort" && p.FailureMode != "fail_closed":
		return ragctx.Invalid("failure_mode", "%q is unknown; use best_effort or fail_closed", ragctx.Clip(p.FailureMode))
	case p.Scope != "" && p.Scope != engine.ScopeGlobal && p.Scope != engine.ScopeSession:
		return ragctx.Invalid("scope", "%q is unknown; use global or session", ragctx.Clip(string(p.Scope)))
	case p.Retries != nil && (*p.Retries < 0 || *p.Retries > 10):
		return ragctx.Invalid("retries", "is %d; use 0 to 10", *p.Retries)
	}
	return nil
}

// secret reads the secret that signs requests. A missing secret is an error: a program that expects
// signatures would refuse every request.
func (p secretSource) secret(env lookupEnv) (string, error) {
	switch {
	case p.SecretEnv != "" && p.SecretFile != "":
		return "", ragctx.Invalid("secret_file", "contradicts secret_env; use one of them")
	case p.SecretEnv != "":
		v, _ := env(p.SecretEnv)
		if v = strings.TrimSpace(v); v == "" {
			return "", ragctx.Invalid("secret_env", "names %s, which is not set", ragctx.Clip(p.SecretEnv))
		}
		return v, nil
	case p.SecretFile != "":
		b, err := os.ReadFile(p.SecretFile)
		if err != nil {
			return "", ragctx.Invalid("secret_file", "cannot be read: %v", err)
		}
		v := strings.TrimSpace(string(b))
		if v == "" {
			return "", ragctx.Invalid("secret_file", "names an empty file")
		}
		return v, nil
	}
	return "", nil
}

// greetProviders prints which data goes to which program.
func (s *settings) greetProviders(w io.Writer) {
	list, _ := s.readProviders() // read without errors before
	for _, p := range list {
		sent := "questions"
		if p.TurnURL != "" {
			sent += " and the turns"
		}
		of := ""
		if p.Scope == engine.ScopeSession {
			of = " of the sessions that add it"
		}
		fmt.Fprintf(w, "provider %s: %s; it is sent the %s%s\n", p.Name, origin(p.URL), sent, of)
	}
}

// origin returns a URL without its path and query, which may contain a token.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "?"
	}
	return u.Scheme + "://" + u.Host
}
