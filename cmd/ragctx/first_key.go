package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
)

// initialKey is the API key that a server creates at its start if there is none, so that a container
// can serve other machines at once. The zero value creates none.
type initialKey struct {
	text string
	made bool // the user does not have the text yet
}

// firstKeyName is the environment variable of the first key, without its prefix.
const firstKeyName = "first_key"

// readInitialKey reads the first key of the environment: the text of a key, or "new" for one that is made.
func readInitialKey(env lookupEnv) (initialKey, error) {
	k := initialKey{text: secret(env, firstKeyName)}
	if k.text == "new" {
		k.made = true
		k.text, _, _ = access.NewText()
	}
	if _, _, ok := access.ReadText(k.text); !ok && k.text != "" {
		return initialKey{}, badUsage("%s: is not an API key; use rgx_, 8 hexadecimal digits, _ and 43 characters of base64url, or say new",
			envName(firstKeyName))
	}
	return k, nil
}

// create creates the key if the data directory has none, and prints it if it was made.
func (k initialKey) create(ctx context.Context, w io.Writer, eng *engine.Engine) error {
	if k.text == "" {
		return nil
	}
	created, err := eng.Keys().CreateFirst(ctx, k.text)
	if err != nil {
		return fmt.Errorf("%s: %w", envName(firstKeyName), err)
	}
	if created && k.made {
		_, err = fmt.Fprintf(w, "API key of an admin, shown this once: %s\n", k.text)
	}
	return err
}
