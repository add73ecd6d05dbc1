package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	"github.com/ragctx/ragctx/api"
)

// withRemedy adds the remedy on the command line to an error of a server.
func withRemedy(err error) error {
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusUnauthorized {
		return fmt.Errorf("%s; set %s to a key of the server, or name a file that has one with --key-file", p.Detail, envName(apiKey))
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("%w; if it is the server's own certificate, name its file with --ca-file", err)
	}
	return err
}
