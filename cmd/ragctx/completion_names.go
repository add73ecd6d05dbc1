package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// Bounds of completions, which delay the next key.
const (
	completeWithin = 2 * time.Second
	completeLooks  = 1000 // names read
	completeShows  = 100  // names offered
)

// named is a name and its description.
type named struct{ name, what string }

// fromData completes names from a server or the data directory. After an error it offers nothing,
// because there is no place to print it.
func fromData(env lookupEnv, list func(ctx context.Context, s settings, c *client, prefix string) ([]named, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		s, err := load(cmd, env)
		if err != nil {
			return nil, noFiles
		}
		s.mayCreate = false
		c, err := s.open(ctx, io.Discard)
		if err != nil {
			return nil, noFiles
		}
		defer func() { _ = c.Close() }()
		found, err := list(ctx, s, c, prefix)
		if err != nil {
			return nil, noFiles
		}
		return offered(found, args, prefix), noFiles
	}
}

// offered returns the names that continue prefix and are not given yet.
func offered(all []named, given []string, prefix string) (out []cobra.Completion) {
	seen := make(map[string]bool)
	for _, g := range given {
		seen[g] = true
	}
	for _, n := range all {
		if strings.HasPrefix(n.name, prefix) && !seen[n.name] && len(out) < completeShows && printable(n.name) == n.name {
			seen[n.name] = true
			out = append(out, cobra.CompletionWithDesc(n.name, brief(n.what)))
		}
	}
	return out
}

// namesOf converts a list to names.
func namesOf[T any](list []T, err error, name func(T) named) ([]named, error) {
	out := make([]named, len(list))
	for i, v := range list {
		out[i] = name(v)
	}
	return out, err
}

func documentNames(ctx context.Context, s settings, c *client, prefix string) ([]named, error) {
	list, err := c.ListDocuments(ctx, s.Namespace, store.ListOptions{Prefix: prefix, Limit: completeShows})
	return namesOf(list, err, func(d store.Document) named { return named{d.ID, d.Title} })
}

func memoryNames(ctx context.Context, s settings, c *client, _ string) (all []named, err error) {
	err = engine.EachPage(ctx, c.ListMemories, s.Namespace, store.MemoryFilter{AnyUser: true, Order: store.ByRecency},
		completeLooks, func(page []ragctx.Memory) error {
			for _, m := range page {
				all = append(all, named{m.ID, m.Content})
			}
			return nil
		})
	return all, err
}

func quarantinedNames(ctx context.Context, s settings, c *client, _ string) ([]named, error) {
	list, _, err := c.Quarantine(ctx, s.Namespace, store.MemoryFilter{AnyUser: true, Limit: completeLooks}, 0)
	return namesOf(list, err, func(q store.Quarantined) named { return named{q.ID, q.Content} })
}

func jobNames(ctx context.Context, _ settings, c *client, _ string) ([]named, error) {
	list, err := c.ListJobs(ctx, store.JobFilter{Limit: completeShows})
	return namesOf(list, err, func(j engine.Job) named { return named{j.ID, fmt.Sprintf("%s, %s", j.Kind, j.State)} })
}

func keyNames(ctx context.Context, _ settings, c *client, _ string) ([]named, error) {
	list, err := c.Keys(ctx, "", completeLooks)
	return namesOf(list, err, func(k access.Key) named { return named{k.ID, k.Name + ": " + describeKey(k)} })
}

func namespaceNames(ctx context.Context, _ settings, c *client, _ string) ([]named, error) {
	list, err := c.ListNamespaces(ctx, "", completeLooks)
	return namesOf(list, err, func(n store.Namespace) named {
		return named{n.Name, fmt.Sprintf("%s, %s", amount(n.Documents, "document"), amount(n.Memories, "memory"))}
	})
}

func procedureNames(ctx context.Context, s settings, c *client, _ string) ([]named, error) {
	list, err := c.ListProcedures(ctx, s.Namespace, store.ProcedureFilter{AnyUser: true, Limit: completeLooks})
	return namesOf(list, err, func(p ragctx.ProcedureEntry) named { return named{p.Name, p.Trigger} })
}

func clusterNames(ctx context.Context, s settings, c *client, _ string) ([]named, error) {
	list, err := c.Clusters(ctx, s.Namespace, "", completeLooks)
	return namesOf(list, err, func(c store.ClusterInfo) named { return named{c.Cluster, amount(c.Messages, "message")} })
}

// sessionNames lists sessions of no user: --user comes elsewhere on the command line.
func sessionNames(ctx context.Context, s settings, c *client, _ string) ([]named, error) {
	list, err := sessionsOf(ctx, c.Client, s.Namespace, "", completeLooks)
	return namesOf(list, err, func(one api.SessionEntry) named { return named{one.ID, amount(one.Messages, "message")} })
}
