package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
)

// withRemedy adds the remedy on the command line to an error of a server.
func withRemedy(err error) error {
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusUnauthorized {
		detail, _, _ := strings.Cut(p.Detail, ": header.") // the header is what the command sends
		return fmt.Errorf("%s; set %s to a key of the server, or name a file that has one with --key-file", detail, envName(apiKey))
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("%w; if it is the server's own certificate, name its file with --ca-file", err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w; 'ragctx serve' starts a server, and without --server the command needs none", err)
	}
	for what, list := range idLists {
		if errors.Is(err, ragctx.ErrNotFound) && strings.Contains(err.Error(), what+` "`) {
			return fmt.Errorf("%w; '%s' shows the ids", err, list)
		}
	}
	return err
}

// idLists are the commands that list the ids of what an error says is not found.
var idLists = map[string]string{
	"document": "ragctx docs list", "memory": "ragctx memory list --all-users",
	"job": "ragctx jobs list", "session": "ragctx sessions list",
}
