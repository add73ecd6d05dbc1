package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const snapshotHelp = `Snapshot writes all data of the data directory into one new file: documents with all
versions, memories, turns, jobs and vectors. The file is compressed and has a checksum.
'ragctx restore' restores it on any machine. While it is written, its folder needs room for
an uncompressed copy.`

const snapshotExample = `  ragctx snapshot backup.ragctx
  ragctx snapshot /backups/$(date +%F).ragctx --quiet`

const restoreHelp = `Restore makes a data directory from a snapshot. The whole file is verified before the data
directory is touched. A data directory with contents is refused unless --force is given; its
database stays until the new one is complete. Indexes are built again at the first use.`

const restoreExample = `  ragctx restore backup.ragctx
  ragctx restore backup.ragctx --data /srv/ragctx --force`

// snapshotFlags are the flags of both commands.
type snapshotFlags struct{ force, json, quiet bool }

func (f *snapshotFlags) add(flags *pflag.FlagSet) {
	jsonFlag(flags, &f.json)
	quietFlag(flags, &f.quiet)
}

func newSnapshot(env lookupEnv) *cobra.Command {
	var f snapshotFlags
	cmd := &cobra.Command{
		Use:     "snapshot FILE",
		Short:   "Write the data directory into one file",
		Long:    snapshotHelp,
		Example: snapshotExample,
		Args:    exactly(1, "one FILE to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSnapshot(cmd, env, f, args[0])
		},
	}
	f.add(cmd.Flags())
	addSettings(cmd.Flags(), "server")
	return cmd
}

func newRestore(env lookupEnv) *cobra.Command {
	var f snapshotFlags
	cmd := &cobra.Command{
		Use:     "restore FILE",
		Short:   "Restore a data directory from a snapshot",
		Long:    restoreHelp,
		Example: restoreExample,
		Args:    exactly(1, "one FILE to read"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestore(cmd, env, f, args[0])
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the contents of the data directory")
	return cmd
}

func runSnapshot(cmd *cobra.Command, env lookupEnv, f snapshotFlags, file string) error {
	return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
		p := newPercent(cmd.ErrOrStderr(), "snapshot", f)
		info, err := c.Snapshot(ctx, file, store.SnapshotOptions{Progress: p.update})
		if err != nil {
			return err
		}
		return writeSnapshotInfo(cmd.OutOrStdout(), f, "written: "+file, info)
	})
}

func runRestore(cmd *cobra.Command, env lookupEnv, f snapshotFlags, file string) error {
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	if err := s.makeProject(cmd.ErrOrStderr()); err != nil {
		return err
	}
	p := newPercent(cmd.ErrOrStderr(), "restore", f)
	info, err := engine.Restore(cmd.Context(), file, s.Data, store.RestoreOptions{
		Force: f.force, Progress: p.update, Store: s.k.String("store"),
	})
	if errors.Is(err, ragctx.ErrConflict) && !f.force {
		err = fmt.Errorf("%w, or --force, which replaces its contents", err)
	}
	if err != nil {
		return unlocked(s.unusable(err))
	}
	return writeSnapshotInfo(cmd.OutOrStdout(), f, "restored: "+s.Data, info)
}

// unlocked adds the remedy to an error about a data directory that another process has open.
func unlocked(err error) error {
	var locked *engine.LockedError
	switch {
	case !errors.As(err, &locked):
		return err
	case locked.Owner.Address == "":
		return withLockRemedy(locked)
	}
	return fmt.Errorf("%w; stop the server first (process %d), and start it again afterwards", locked, locked.Owner.PID)
}

func writeSnapshotInfo(w io.Writer, f snapshotFlags, done string, info store.SnapshotInfo) error {
	if f.json {
		return writeJSON(w, info)
	}
	_, err := fmt.Fprintf(w, "%s\n%s, %s, %s and %s in %s, %s uncompressed, as of %s\n", done, amount(info.Documents, "document"),
		amount(info.Memories, "memory"), amount(info.Turns, "turn"), amount(info.Messages, "message"), amount(info.Namespaces, "namespace"),
		size(info.Bytes), info.Created.Format(time.RFC3339))
	return err
}

// percent prints the progress now and then.
type percent struct {
	w    io.Writer
	what string

	mu   sync.Mutex
	last time.Time
}

func newPercent(w io.Writer, what string, f snapshotFlags) *percent {
	if f.quiet || f.json {
		w = io.Discard
	}
	return &percent{w: w, what: what, last: time.Now()}
}

func (p *percent) update(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); total > 0 && now.Sub(p.last) >= lineEvery {
		p.last = now
		fmt.Fprintf(p.w, "%s: %d%%\n", p.what, 100*done/total)
	}
}
