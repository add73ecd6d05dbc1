package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// startJobs starts the background jobs of an engine in this process. A server runs them anyway.
func (c *client) startJobs() {
	if c.local != nil {
		c.local.Jobs().Start()
	}
}

const jobsHelp = `A job is work that outlives its request: an ingest, or a bulk request of the REST API. Jobs
survive restarts and are kept for 7 days after their end. A server runs them; without one,
'ragctx ingest', 'ragctx jobs watch' and 'ragctx jobs retry' do.`

func newJobs(env lookupEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List, show, cancel and retry jobs",
		Long:  jobsHelp,
		Example: `  ragctx jobs list
  ragctx jobs show JOB --items failed
  ragctx jobs cancel JOB`,
	}
	group(cmd)
	cmd.AddCommand(newJobsList(env), newJobsShow(env), newJobsCancel(env), newJobsRetry(env), newJobsWatch(env))
	return cmd
}

func newJobsList(env lookupEnv) *cobra.Command {
	var state string
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List jobs of all namespaces, the newest first",
		Example: "  ragctx jobs list --state failed",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				list, err := c.ListJobs(ctx, store.JobFilter{State: store.JobState(state), Limit: limit})
				if err == nil && len(list) == 0 && !asJSON {
					fmt.Fprintln(cmd.ErrOrStderr(), "no jobs")
				}
				return show(cmd.OutOrStdout(), asJSON, list, err, writeJobs)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	choiceVar(cmd.Flags(), &state, "state", "", jobStates, "only jobs that are queued, running, done, failed or cancelled")
	limitFlag(cmd.Flags(), &limit, 20, 1, engine.MaxPage)
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func writeJobs(w io.Writer, list []engine.Job) error {
	return writeTable(w, "JOB\tKIND\tNAMESPACE\tSTATE\tDONE\tFAILED\tCREATED", list, func(j engine.Job) []any {
		return []any{j.ID, j.Kind, j.Namespace, j.State, doneText(j), j.Counts.Failed, localTime(j.Created)}
	})
}

// doneText returns the number of finished items, and of all if known.
func doneText(j engine.Job) string {
	n := strconv.Itoa(j.Counts.Sum())
	if j.Items > 0 && !j.State.Ended() {
		n += " of " + strconv.Itoa(j.Items)
	}
	return n
}

func newJobsShow(env lookupEnv) *cobra.Command {
	var items string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show JOB",
		Short: "Show a job",
		Example: `  ragctx jobs show JOB
  ragctx jobs show JOB --items failed`,
		Args: exactly(1, "one JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
				return showJob(ctx, cmd.OutOrStdout(), c, args[0], items, asJSON)
			})
		},
	}
	addSettings(cmd.Flags(), "server")
	choiceVar(cmd.Flags(), &items, "items", "", itemStates, "list its items: all, or only pending, done, failed or skipped ones")
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

func showJob(ctx context.Context, w io.Writer, c *client, id, items string, asJSON bool) error {
	j, err := c.Job(ctx, id)
	if err != nil {
		return err
	}
	list := []store.JobItem{}
	if items != "" {
		err = engine.EachItem(ctx, c.JobItems, id, store.ItemState(strings.TrimPrefix(items, "all")),
			func(i store.JobItem) { list = append(list, i) })
		if err != nil {
			return err
		}
	}
	if asJSON {
		return writeJSON(w, struct {
			engine.Job

			ItemList []store.JobItem `json:"item_list"`
		}{j, list})
	}
	writeJob(w, j)
	for _, i := range list {
		fmt.Fprintln(w, itemLine(i))
	}
	return nil
}

func writeJob(w io.Writer, j engine.Job) {
	c := j.Counts
	fmt.Fprintf(w, "job %s (%s, namespace %s): %s\n", printable(j.ID), printable(j.Kind), printable(j.Namespace), j.State)
	fmt.Fprintf(w, "%d created, %d replaced, %d unchanged, %d deleted, %d failed, %d skipped\n",
		c.Created, c.Replaced, c.Unchanged, c.Deleted, c.Failed, c.Skipped)
	if !j.State.Ended() && j.Items > 0 {
		fmt.Fprintln(w, progressText(j))
	}
	if j.Error != "" {
		fmt.Fprintln(w, "error:", printable(j.Error))
	}
	writeLeftOut(w, j.IngestReport().LeftOut)
}

// progressText returns the progress of a job: its items, its pace, the time left, and the current item.
func progressText(j engine.Job) string {
	text := doneText(j)
	if took := j.Heartbeat.Sub(j.Started); j.Chunks > 0 && took > time.Second {
		text += fmt.Sprintf(", %.0f chunks/s", rate(j.Chunks, took))
	}
	text += etaOf(j)
	if j.Current != "" {
		text += ", " + printable(j.Current)
	}
	return text
}

func etaOf(j engine.Job) string {
	if j.ETASeconds == nil {
		return ""
	}
	left := time.Duration(*j.ETASeconds * float64(time.Second))
	return fmt.Sprintf(", %s left", left.Round(time.Second))
}

// itemLine returns an item in one line.
func itemLine(i store.JobItem) string {
	line := fmt.Sprintf("%d %s: %s", i.N, printable(i.Key), i.State)
	if i.Status != "" {
		line += ", " + string(i.Status)
	}
	if i.Error != "" {
		line += ", " + printable(skippedItem(i, nil).Reason)
	}
	return line
}

func newJobsCancel(env lookupEnv) *cobra.Command {
	return jobCommand(env, &cobra.Command{
		Use:     "cancel JOB",
		Short:   "Cancel a job; finished items stay",
		Example: "  ragctx jobs cancel JOB",
	}, func(ctx context.Context, w io.Writer, c *client, id string) error {
		j, err := c.CancelJob(ctx, id)
		if err == nil {
			writeJob(w, j)
		}
		return err
	})
}

func newJobsRetry(env lookupEnv) *cobra.Command {
	return jobCommand(env, &cobra.Command{
		Use:   "retry JOB",
		Short: "Run the failed and the remaining items of a job again",
		Long: "Retry queues the failed and the remaining items of a job that has ended. Without a server\n" +
			"it waits until they are done.",
		Example: "  ragctx jobs retry JOB",
	}, func(ctx context.Context, w io.Writer, c *client, id string) error {
		j, err := c.RetryJob(ctx, id)
		if err != nil {
			return err
		}
		if c.local != nil {
			return watchJob(ctx, w, c, id)
		}
		writeJob(w, j)
		return nil
	})
}

func newJobsWatch(env lookupEnv) *cobra.Command {
	return jobCommand(env, &cobra.Command{
		Use:   "watch JOB",
		Short: "Follow a job until it has ended",
		Long:  "Watch shows the progress of a job until it has ended. The job continues if the command is\ninterrupted.",

		Example: "  ragctx jobs watch JOB",
	}, watchJob)
}

// watchJob shows a job until it has ended. An engine in this process runs it, too.
func watchJob(ctx context.Context, w io.Writer, c *client, id string) error {
	c.startJobs()
	var last time.Time
	j, err := c.WatchJob(ctx, id, func(j engine.Job) {
		if now := time.Now(); !j.State.Ended() && now.Sub(last) >= lineEvery {
			last = now
			fmt.Fprintf(w, "%s: %s\n", j.State, progressText(j))
		}
	})
	if err != nil {
		return err
	}
	writeJob(w, j)
	if err := jobError(j); err != nil || j.Counts.Failed == 0 {
		return err
	}
	return fmt.Errorf("%s failed; 'ragctx jobs show %s --items failed' lists them", amount(j.Counts.Failed, "item"), j.ID)
}

// jobCommand completes a command that takes one job.
func jobCommand(env lookupEnv, cmd *cobra.Command, run func(ctx context.Context, w io.Writer, c *client, id string) error) *cobra.Command {
	cmd.Args = exactly(1, "one JOB")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withClient(cmd, env, func(ctx context.Context, _ settings, c *client) error {
			return run(ctx, cmd.OutOrStdout(), c, args[0])
		})
	}
	addSettings(cmd.Flags(), "server")
	return cmd
}
