package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index/pgvector"
	"github.com/ragctx/ragctx/index/weaviate"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// checkOneOf accepts the given values, at least two.
func checkOneOf(values ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(values, v) {
			return nil
		}
		return &unknownValue{v, values}
	}
}

// unknownValue is the error of a value that is none of the known ones.
type unknownValue struct {
	value string
	known []string
}

// Error implements error.
func (e *unknownValue) Error() string {
	return fmt.Sprintf("%q is unknown; use %s", ragctx.Clip(e.value), orList(e.known))
}

// orList joins two or more values with commas and "or".
func orList(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// optional accepts the empty value as well.
func optional(check func(string) error) func(string) error {
	return func(v string) error {
		if v == "" {
			return nil
		}
		return check(v)
	}
}

func checkData(v string) error {
	if v == "" {
		return errors.New("is empty and the environment names no home directory; use --data DIR")
	}
	return nil
}

// checkStore accepts the URL of a PostgreSQL database without a password. It never repeats the value.
func checkStore(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Path == "" || u.Path == "/" {
		return errors.New("is no URL of a database; write it as postgres://user@host/name")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return errors.New("has a password, which lists of processes and settings would show; set PGPASSWORD or use ~/.pgpass")
	}
	return nil
}

// checkIndex accepts local, the URL of a cluster, and that of a PostgreSQL database without a password.
func checkIndex(v string) error {
	if v == localIndex {
		return nil
	}
	check := weaviate.Check
	if pgvector.Serves(v) {
		if err := checkStore(v); err != nil {
			return err
		}
		check = pgvector.Check
	}
	if f, ok := errors.AsType[*ragctx.FieldError](check(v)); ok {
		return errors.New(f.Problem)
	}
	return nil
}

func checkNamespace(v string) error {
	if v == "" {
		return errors.New("is empty; leave it out for the default namespace")
	}
	return ragctx.ValidName("namespace", v)
}

// checkKeep accepts a number of versions, or all.
func checkKeep(v string) error {
	if n, err := strconv.Atoi(v); v != "all" && (err != nil || n < 1) {
		return fmt.Errorf("%q is neither a number from 1 on nor all", ragctx.Clip(v))
	}
	return nil
}

// checkShare accepts a number from 0 to 1.
func checkShare(v string) error {
	if f, err := strconv.ParseFloat(v, 64); err != nil || !(f >= 0 && f <= 1) {
		return fmt.Errorf("%q is no share; use a number from 0 to 1", ragctx.Clip(v))
	}
	return nil
}

func checkAddr(v string) error {
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return fmt.Errorf("%q is not host:port, such as 127.0.0.1:7700", ragctx.Clip(v))
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no port number from 0 to 65535", ragctx.Clip(v))
	}
	return nil
}

func checkAdvertise(v string) error {
	host, port, err := net.SplitHostPort(v)
	n, _ := strconv.Atoi(port)
	if err != nil || host == "" || n < 1 || n > 65535 || net.ParseIP(host).IsUnspecified() {
		return fmt.Errorf("%q is not host:port of this machine, such as node1.example.com:7700", ragctx.Clip(v))
	}
	return nil
}

func checkServer(v string) error {
	_, err := serverURL(v)
	return err
}

// serverURL returns the base URL that v names. The scheme may be left out: it is http for
// this machine, and https for others.
func serverURL(v string) (string, error) {
	if !strings.Contains(v, "://") {
		v = "https://" + v
		if u, err := url.Parse(v); err == nil && httpclient.IsLoopback(u.Hostname()) {
			v = "http://" + u.Host + u.RequestURI()
		}
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%q is not a server; use a URL such as http://127.0.0.1:7700", ragctx.Clip(v))
	}
	return strings.TrimRight(v, "/"), nil
}

func checkLevel(v string) error {
	var l slog.Level
	if err := l.UnmarshalText([]byte(v)); err != nil {
		return &unknownValue{v, []string{"debug", "info", "warn", "error"}}
	}
	return nil
}

// clientHost returns the address to dial for a listening address: loopback for a server on all
// interfaces.
func clientHost(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	switch ip := net.ParseIP(host); {
	case host == "" || ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		host = "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
