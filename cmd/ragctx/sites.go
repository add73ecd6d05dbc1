package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs/fetch"
)

// splitHosts reads the setting allow_hosts.
func splitHosts(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

func checkHosts(v string) error {
	_, err := fetch.ParseHosts(splitHosts(v))
	return err
}

// maxRate bounds the requests a second to one host; more would be an attack.
const maxRate = 1000

func checkRate(v string) error {
	if x, err := strconv.ParseFloat(v, 64); err != nil || !(x > 0 && x <= maxRate) {
		return fmt.Errorf("is %q; use a number over 0, at most %d", ragctx.Clip(v), maxRate)
	}
	return nil
}

// sites returns an opener of paths and URLs, for the hosts that the settings allow and those of the
// URLs in the arguments. The caller closes it.
func (s *settings) sites() (*engine.WebSources, error) {
	hosts, err := fetch.ParseHosts(splitHosts(s.k.String("allow_hosts")))
	if err != nil {
		return nil, asUsage(err)
	}
	for _, u := range s.named {
		if hosts, err = hosts.With(u); err != nil {
			return nil, asUsage(err)
		}
	}
	perSecond, err := strconv.ParseFloat(s.k.String("fetch_rate"), 64)
	if err != nil {
		return nil, fmt.Errorf("fetch_rate: %w", err)
	}
	return engine.NewWebSources(fetch.Options{
		Hosts: hosts, Every: time.Duration(float64(time.Second) / perSecond), IgnoreRobots: s.ignoreRobots,
		UserAgent: "ragctx/" + strings.Trim(buildVersion(), "()") + " (+https://github.com/ragctx/ragctx)",
	}), nil
}

// name allows the hosts of the URLs among paths for this run.
func (s *settings) name(paths []string) {
	for _, p := range paths {
		if fetch.IsURL(p) {
			s.named = append(s.named, p)
		}
	}
}
