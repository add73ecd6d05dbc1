package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// extractWorker is the name of the command that a pool of readers runs.
const extractWorker = "extract-worker"

// newExtractWorker is an internal command. It reads files in a process of its own, which can be
// killed.
func newExtractWorker(lookupEnv) *cobra.Command {
	return &cobra.Command{
		Use:    extractWorker,
		Short:  "Read files for another ragctx, on standard input and output",
		Hidden: true,
		Args:   none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return extract.ServeWorker(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// readers returns a reader of files that are not plain text. It runs in processes of this program,
// so that a bad file crashes only such a process. They start with the first such file. The caller
// closes them.
func readers() (docs.ExtractFunc, func() error, error) {
	pool, err := newExtractPool(os.Executable)
	if err != nil {
		return nil, nil, err
	}
	return pool.Read, pool.Close, nil
}

// newExtractPool returns a pool of processes of this program, whose path executable returns. The
// caller closes it.
func newExtractPool(executable func() (string, error)) (*extract.Pool, error) {
	program, err := executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program to read files with: %w", err)
	}
	return extract.NewPool(extract.PoolOptions{Argv: []string{program, extractWorker}})
}
