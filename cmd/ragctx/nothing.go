package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ragctx/ragctx"
)

// printNone prints on w, standard error, that a list is empty, since silence looks like a mistake.
// It also says if the namespace does not exist.
func printNone(ctx context.Context, w io.Writer, c *client, namespace, what string) {
	switch {
	case namespace == "": // the server's default
		fmt.Fprintf(w, "no %s\n", what)
	case !printMissingNamespace(ctx, w, c, namespace):
		fmt.Fprintf(w, "no %s in namespace %s\n", what, printable(namespace))
	}
}

// printMissingNamespace prints and reports whether the namespace does not exist. The default one always
// exists.
func printMissingNamespace(ctx context.Context, w io.Writer, c *client, namespace string) bool {
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
