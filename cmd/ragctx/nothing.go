package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ragctx/ragctx"
)

// tellNone says on w, which is standard error, that a list is empty, as silence looks like
// a mistake, and whether that is because there is no such namespace.
func tellNone(ctx context.Context, w io.Writer, c *client, namespace, what string) {
	switch {
	case namespace == "": // the one that a server takes for it
		fmt.Fprintf(w, "no %s\n", what)
	case !tellNowhere(ctx, w, c, namespace):
		fmt.Fprintf(w, "no %s in namespace %s\n", what, printable(namespace))
	}
}

// tellNowhere says on w that there is no such namespace, and reports whether that is so. The
// default one is there as soon as it is needed.
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
