package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/embed/builtin"
	embedding "github.com/ragctx/ragctx/embed/remote"
	"github.com/ragctx/ragctx/engine"
)

const reembedHelp = `Reembed changes the embedder of the data directory. It embeds all texts again while the
old vectors answer queries, and then switches all indexes at once. It is a job: it
survives restarts, and can be cancelled until it is done.

EMBEDDER is one of these:
  static       the table of vectors within the program
  auto         the table at once, and the model within the program in the background
  minilm       the model within the program, slower and better
  hashing      feature hashing; hashing/N has N dimensions
  static:PATH  a table of your own; name it with the setting embedder afterwards
  minilm:PATH  a model of your own, such as all-MiniLM-L6-v2 or bge-small; likewise
  remote       the embedding service of the settings (--embed-shape and others), which
               receives all texts

If a server has the data directory open, remote is the service of the server's settings,
and a path is rejected. 'ragctx serve --reembed' changes to the embedder of its settings.`

func newReembed(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reembed EMBEDDER",
		Short: "Change the embedder of the data directory",
		Long:  reembedHelp,
		Example: `  ragctx reembed static
  ragctx reembed static:./my-table
  ragctx reembed remote --embed-shape ollama --embed-model nomic-embed-text`,
		Args: exactly(1, "one EMBEDDER"),
		RunE: func(cmd *cobra.Command, args []string) error { return runReembed(cmd, env, args[0]) },
	}
	addSettings(cmd.Flags(), append(names(embedSettings()), "server")...)
	return cmd
}

func runReembed(cmd *cobra.Command, env lookupEnv, name string) (err error) {
	if name != engine.RemoteName {
		if err := checkEmbedder(name); err != nil {
			return asUsage(err)
		}
	}
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	s.reembed = name
	c, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(c, &err)
	j, err := reembedAs(ctx, c, name)
	if err != nil {
		return err
	}
	if j, err = await(ctx, cmd.ErrOrStderr(), c, j); err != nil {
		return err
	}
	suggestFloor(ctx, cmd.ErrOrStderr(), s, c)
	writeSpend(cmd.ErrOrStderr(), c)
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "embedded %s by %s\n", amount(j.Items, "chunk"), name)
	return err
}

// reembedAs begins the change to an embedder. An engine in this process was opened with it, may have
// begun the change then, and takes the path of a table of this machine, which the API does not.
func reembedAs(ctx context.Context, c *client, name string) (engine.Job, error) {
	if c.local == nil {
		return c.ReembedAs(ctx, name)
	}
	with, err := builtin.OpenLocal(name)
	if name == engine.RemoteName {
		with, err = c.local.Indexes().EmbedderNamed(name)
	}
	if err != nil {
		return engine.Job{}, err
	}
	if j, to, ok, err := c.local.Indexes().Reembedding(ctx); err != nil || ok && to == with.Identity() {
		return j, err
	}
	return c.local.Indexes().Reembed(ctx, with)
}

// suggestFloor prints the noise floor of the service's model, unless one is set.
func suggestFloor(ctx context.Context, w io.Writer, s settings, c *client) {
	if c.local == nil || s.reembed != engine.RemoteName || s.origin["embed_noise_floor"] != fromDefault {
		return
	}
	with, err := c.local.Indexes().EmbedderNamed(engine.RemoteName)
	if err != nil {
		return
	}
	service, ok := with.(*embedding.Client)
	if !ok {
		return
	}
	// The service answered before; if it does not now, the suggestion is left out.
	if floor, err := service.Calibrate(ctx); err == nil {
		fmt.Fprintf(w, "unrelated texts have cosines up to %.2f with this model; embed_noise_floor %.2f keeps them "+
			"out of answers\n", floor, floor)
	}
}
