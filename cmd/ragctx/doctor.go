package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
)

const doctorHelp = `Doctor checks the whole database and compares every index with it. It changes nothing.
In the keyword index it counts the chunks and searches for a sample of them. In the other
indexes it compares every chunk.

It also measures the recall of each vector index. For --recall-time it repeats searches
exactly and counts the results that were missed. If a server has the directory open, doctor
adds the recall of that server's own queries. The report ends with the problems of 'ragctx
status'.

With --repair, every index that differs is deleted and built again in the background. The
database is never changed; restore a snapshot to repair it.

The exit status is 1 if a problem is left.`

func newDoctor(env lookupEnv) *cobra.Command {
	var repair, asJSON bool
	var searching time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the data directory, and repair indexes",
		Long:  doctorHelp,
		Example: `  ragctx doctor
  ragctx doctor --repair`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				if searching < 0 || searching > time.Hour {
					return badUsage("--recall-time: is %s; use 0 to 1h", searching)
				}
				found, err := checkUp(ctx, cmd.ErrOrStderr(), c, engine.DoctorOptions{Repair: repair, Searching: cmp.Or(searching, -1)})
				if err != nil {
					return err
				}
				if !asJSON {
					writeCheckup(cmd.OutOrStdout(), found)
				} else if err := writeJSON(cmd.OutOrStdout(), found); err != nil {
					return err
				}
				switch {
				case !found.Sound() && (found.Store.Damaged() || !repair):
					return errors.New("the data directory is not in order; see above")
				case len(found.Degraded) > 0 && found.Repaired == 0:
					return errors.New("something does not work as it should; see above")
				}
				return nil
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	cmd.Flags().BoolVar(&repair, "repair", false, "make every index again that differs from the database")
	durationVar(cmd.Flags(), &searching, "recall-time", engine.DefaultSearching,
		"how long to measure in all what the vector indexes find; 0 does not")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// checkUp checks the data directory.
func checkUp(ctx context.Context, progress io.Writer, c *client, o engine.DoctorOptions) (engine.Checkup, error) {
	var found engine.Checkup
	if c.local != nil { // a job would be written into a database that may be damaged
		last := time.Now()
		o.Progress = func(what string, done, total int) {
			if now := time.Now(); total > 0 && now.Sub(last) >= lineEvery {
				last = now
				fmt.Fprintf(progress, "%s: %d%%\n", printable(what), 100*done/total)
			}
		}
		return c.local.Admin().Doctor(ctx, o)
	}
	j, err := c.CheckUp(ctx, o)
	if err != nil {
		return found, err
	}
	if j, err = await(ctx, progress, c, j); err != nil {
		return found, err
	}
	if err := json.Unmarshal(j.Result, &found); err != nil {
		return found, fmt.Errorf("read the findings: %w", err)
	}
	return found, nil
}

// await shows the progress of a job until it has ended, and returns its error.
func await(ctx context.Context, progress io.Writer, c *client, j engine.Job) (engine.Job, error) {
	c.startJobs()
	last, stage := 0.0, ""
	j, err := c.WatchJob(ctx, j.ID, func(j engine.Job) {
		at, known := j.Done()
		if j.State.Ended() || j.Stage == "" || j.Stage == stage && (!known || at-last < 0.1) {
			return
		}
		last, stage = at, j.Stage
		fmt.Fprintf(progress, "%s: %.0f%%\n", printable(j.Stage), 100*at)
	})
	if err != nil {
		return j, err
	}
	return j, jobError(j)
}

func writeCheckup(w io.Writer, c engine.Checkup) {
	writeEmbedder(w, c.Embedder)
	fmt.Fprintf(w, "database: %s, %s: %s\n", amount(c.Store.Items, "item"), amount(c.Store.Chunks, "chunk"), soundText(!c.Store.Damaged()))
	for _, f := range c.Store.Findings {
		fmt.Fprintf(w, "  %s (%s): %s %s\n", f.Severity, printable(f.Check), printable(f.Item), printable(f.Detail))
	}
	if c.Store.More > 0 {
		fmt.Fprintf(w, "  and %d more\n", c.Store.More)
	}
	for _, i := range c.Indexes {
		fmt.Fprintf(w, "index of %s in namespace %s, %s: %s\n", i.Kind, printable(i.Namespace), amount(i.Chunks, "chunk"),
			soundText(i.Error == "" && i.Sound()))
		for _, part := range []struct {
			name string
			leg  index.PartAudit
		}{{"catalog", i.Catalog}, {"keyword", i.Keyword}, {"vector", i.Vector}} {
			if l := part.leg; !l.Sound() || l.State != index.Ready {
				fmt.Fprintf(w, "  %s (%s): %d missing, %d wrong, %d too many\n", part.name, l.State, l.Missing, l.Wrong, l.Extra)
			}
		}
		writeVectors(w, i)
		if i.Error != "" {
			fmt.Fprintf(w, "  %s\n", printable(i.Error))
		}
		if i.Repaired {
			fmt.Fprintln(w, "  thrown away; it is being made again")
		}
	}
	writeDegraded(w, c.Degraded)
}

// writeVectors prints how the vectors of an index are searched, and with which recall.
func writeVectors(w io.Writer, i engine.IndexCheckup) {
	l := i.VectorIndex
	if l.Chunks == 0 {
		return
	}
	fmt.Fprintf(w, "  %d vectors, %s, %s on disk", l.Chunks, l.Graph, size(l.Bytes))
	if l.Linked+l.Waiting > 0 {
		fmt.Fprintf(w, "; %d linked, %d waiting, %s of memory", l.Linked, l.Waiting, size(l.GraphBytes))
	}
	fmt.Fprintln(w)
	if i.Found != nil {
		fmt.Fprintf(w, "  test with stored vectors as queries: %s\n", searchesText(*i.Found))
	}
	if l.Live.Searches+l.Live.Exact > 0 {
		fmt.Fprintf(w, "  queries so far: %s\n", searchesText(l.Live))
	}
}

// searchesText returns the times and the recall of searches.
func searchesText(r index.SearchReport) string {
	var parts []string
	for _, k := range []struct {
		n        uint64
		what     string
		p50, p99 float64
	}{{r.Searches, "searches", r.P50MS, r.P99MS}, {r.Exact, "exact searches", r.ExactP50MS, r.ExactP99MS}} {
		if k.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (median %s, p99 %s)", k.n, k.what, millis(k.p50), millis(k.p99)))
		}
	}
	if c := r.Recall; c != nil {
		parts = append(parts, fmt.Sprintf("recall@10 %.3f (95 %% confidence: %.3f to %.3f; %d queries)", c.Value, c.Low,
			c.High, c.Samples))
	}
	return strings.Join(parts, ", ")
}

func millis(ms float64) string {
	return time.Duration(ms * float64(time.Millisecond)).Round(10 * time.Microsecond).String()
}

func soundText(ok bool) string {
	if ok {
		return "in order"
	}
	return "NOT in order"
}
