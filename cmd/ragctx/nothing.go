package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ragctx/ragctx"
)

// tellNone prints on w, standard error, that a list is empty, since silence looks like a mistake.
// It also says if the namespace does not exist.
func tellNone(ctx context.Context, w io.Writer, c *client, namespace, what string) {
	switch {
	case namespace == "": // the server's default
		fmt.Fprintf(w, "no %s\n", what)
	case !tellNowhere(ctx, w, c, namespace):
		fmt.Fprintf(w, "no %s in namespace %s\n", what, printable(namespace))
	}
}

// tellNowhere prints and reports whether the namespace does not exist. The default one always
// exists.
func tellNowhere(ctx context.Context, w io.Writer, c *client, namespace string) bool {
	if namespace == "" {
		return false
	}
	_, err := c.DescribeNamespace(ctx, namespace)
	missing := errors.Is(err, ragctx.ErrNotFound) && namespace != ragctx.DefaultNamespace
	if missing {
		fmt.Fprintf(w, "there is no namespace %q; 'ragctx namespaces list' shows those that there are\n", namespace)
	}
	return missing
}
