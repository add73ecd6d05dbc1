package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
)

const keysHelp = `API keys identify the callers of a server. While no keys exist, a server listens on this
machine alone and accepts every request. From the first key on, every request needs one,
sent as

  Authorization: Bearer rgx_...

Commands on the data directory of a running server need no key. For another server they send
the key in ` + envPrefix + `KEY, or in the file of --key-file.`

func newKeys(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke API keys",
		Long:  keysHelp,
		Example: `  ragctx keys create ops --role admin
  ragctx keys create "billing agent" --role write --only billing
  ragctx keys list
  ragctx keys revoke KEY_ID`,
	}
	group(cmd)
	cmd.AddCommand(newKeysCreate(env), newKeysList(env), newKeysRevoke(env))
	return cmd
}

func newKeysCreate(env lookupEnv) *cobra.Command {
	var k access.Key
	var role string
	var ttl time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key, which is printed once",
		Long: "Create makes an API key and prints it. The key is not stored and cannot be shown again.\n" +
			"\n" +
			"A read key asks, searches and lists. A write key also stores, changes and deletes. An admin\n" +
			"key also acts for all users and changes settings. The first key must be an admin key for all\n" +
			"namespaces, because only such a key can create others. The key of a user reads that user's\n" +
			"items and shared items, and changes only that user's items.",
		Example: `  ragctx keys create ops --role admin
  ragctx keys create "billing agent" --role write --only billing --ttl 90d
  ragctx keys create "ada's editor" --role write --only team --user ada`,
		Args: exactly(1, "one argument, the name that says what the key is for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			k.Name = args[0]
			var err error
			if k.Role, err = access.ParseRole(role); err != nil {
				return badUsage("--role: %q is not a role; use read, write or admin", role)
			}
			if ttl < 0 {
				return badUsage("--ttl: is %s; use a time such as 12h or 90d", ttl)
			}
			if ttl > 0 {
				k.Expires = time.Now().Add(ttl)
			}
			if err := k.Validate(time.Now()); err != nil {
				return asUsage(err)
			}
			return withClient(cmd, env, func(ctx context.Context, s settings, c *client) error {
				if s.origin["namespace"] == fromFlag && len(k.Namespaces) == 0 {
					return badUsage("--namespace does not say what the key is for; use --only %s", printable(s.Namespace))
				}
				n, err := validKeys(ctx, c)
				if err != nil {
					return err
				}
				if n == 0 {
					if err := k.CheckFirst(); err != nil {
						return fmt.Errorf("%w, such as 'ragctx keys create ops --role admin'", err)
					}
				}
				made, err := c.CreateKey(ctx, k)
				if err != nil {
					return err
				}
				if n == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "it is the first: from now on every request to a server of "+
						"this data directory needs a key")
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), made)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "key %s: %s; it is shown this once\n", made.ID, describeKey(made.Key))
				_, err = fmt.Fprintln(cmd.OutOrStdout(), made.Text)
				return err
			})
		},
	}
	flags := cmd.Flags()
	addSettings(flags, "server")
	flags.StringVar(&role, "role", "read", "read, write or admin")
	flags.StringArrayVar(&k.Namespaces, "only", nil, "a namespace that the key is for; may be repeated; without it all")
	flags.StringVar(&k.User, "user", "", "the only user that the key acts for")
	durationVar(flags, &ttl, "ttl", 0, "how long the key is valid, such as 12h or 90d; without it until it is revoked")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// minuteStamp is the format of times in tables that need no seconds.
const minuteStamp = "2006-01-02 15:04 MST"

// describeKey returns the rights of a key.
func describeKey(k access.Key) string {
	text := k.Role.String() + ", " + namespacesOf(k)
	if k.User != "" {
		text += ", as " + printable(k.User)
	}
	if !k.Expires.IsZero() {
		text += ", until " + k.Expires.Local().Format(minuteStamp)
	}
	return text
}

func namespacesOf(k access.Key) string {
	if len(k.Namespaces) == 0 {
		return "all namespaces"
	}
	return printable(strings.Join(k.Namespaces, ", "))
}

func newKeysList(env lookupEnv) *cobra.Command {
	var asJSON, ended bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List API keys that are valid, without their secrets",
		Example: "  ragctx keys list --json",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				keys, err := allKeys(ctx, c)
				if err != nil {
					return err
				}
				old := 0
				if !ended {
					n := len(keys)
					keys = slices.DeleteFunc(keys, func(k access.Key) bool { return k.State(time.Now()) != "active" })
					old = n - len(keys)
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), keys)
				}
				if old > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s left out, revoked or expired; --all lists them\n", amount(old, "key"))
				} else if len(keys) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "no keys: a server takes every request of this machine, and "+
						"listens for no other; see 'ragctx keys create'")
				}
				return writeKeys(cmd.OutOrStdout(), keys)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVar(&ended, "all", false, "add revoked and expired keys")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func allKeys(ctx context.Context, c *client) ([]access.Key, error) {
	return allPages(func(last access.Key) ([]access.Key, error) { return c.Keys(ctx, last.ID, engine.MaxPage) })
}

// validKeys counts the keys that are not revoked: with the first one a server begins to ask for
// keys.
func validKeys(ctx context.Context, c *client) (int, error) {
	keys, err := allKeys(ctx, c)
	n := 0
	for _, k := range keys {
		if k.Revoked.IsZero() {
			n++
		}
	}
	return n, err
}

func writeKeys(w io.Writer, keys []access.Key) error {
	return writeTable(w, "KEY\tNAME\tBEGINS\tMAY\tSTATE\tUSED", keys, func(k access.Key) []any {
		used := "never"
		if !k.LastUsed.IsZero() {
			used = k.LastUsed.Local().Format(minuteStamp)
		}
		return []any{k.ID, k.Name, k.Prefix, describeKey(k), k.State(time.Now()), used}
	})
}

func newKeysRevoke(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "revoke KEY_ID",
		Short:   "Revoke an API key at once and permanently",
		Example: "  ragctx keys revoke 0198c7d2-4b7e-7f3a-9c55-2f1b7b6f6d10",
		Args:    exactly(1, "one argument, the id of a key as 'ragctx keys list' shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				k, err := c.RevokeKey(ctx, args[0])
				if errors.Is(err, ragctx.ErrNotFound) {
					return fmt.Errorf("%w; send the id that stands under KEY in 'ragctx keys list'", err)
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "revoked %s (%s)\n", printable(k.Name), k.ID)
				if n, err := validKeys(ctx, c); err == nil && n == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), "no keys are left: a server of this machine alone takes every "+
						"request now, unless it has --require-keys")
				}
				return nil
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	return cmd
}
