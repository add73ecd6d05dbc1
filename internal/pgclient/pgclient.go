// Package pgclient configures connections to PostgreSQL servers.
package pgclient

import (
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// connectTimeout limits how long a server may take to accept a connection.
const connectTimeout = 10 * time.Second

// Config returns the configuration of connections to the database at a URL. An error names the field that has the URL, and
// never a password.
func Config(field, url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, ragctx.Invalid(field, "is no URL of a database: %s; write it as postgres://user@host/name", withoutSecret(err, url))
	}
	config.ConnectTimeout = connectTimeout
	config.DialFunc = httpclient.Dial(net.Dialer{KeepAlive: 15 * time.Second})
	config.LookupFunc = httpclient.Unresolved
	config.RuntimeParams["application_name"] = "ragctx"
	config.RuntimeParams["client_encoding"] = "UTF8"
	// The server frees the locks of a machine that has vanished within half a minute.
	config.RuntimeParams["tcp_keepalives_idle"] = "10"
	config.RuntimeParams["tcp_keepalives_interval"] = "5"
	config.RuntimeParams["tcp_keepalives_count"] = "3"
	config.RuntimeParams["tcp_user_timeout"] = "20000"
	return config, nil
}

// withoutSecret returns the text of an error about a URL without the URL, which may hold a password.
func withoutSecret(err error, url string) string {
	text := err.Error()
	if _, reason, ok := strings.Cut(text, "`: "); ok {
		text = reason
	}
	return strings.ReplaceAll(text, url, "…")
}
