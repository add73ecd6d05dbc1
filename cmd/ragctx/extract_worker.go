package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// extractWorker is the command that a pool of readers starts.
const extractWorker = "extract-worker"

// newExtractWorker is for this program's own use: it reads files in a process that may
// be killed.
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

// readers returns what reads files that are not text: in processes of this program,
// so that a bad file fails alone. No process runs before such a file comes. The caller
// closes it.
func readers() (docs.ExtractFunc, func() error, error) {
	pool, err := newExtractPool(os.Executable)
	if err != nil {
		return nil, nil, err
	}
	return pool.Read, pool.Close, nil
}

// newExtractPool returns a pool whose processes are this program; executable is
// os.Executable. The caller closes it.
func newExtractPool(executable func() (string, error)) (*extract.Pool, error) {
	program, err := executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program to read files with: %w", err)
	}
	return extract.NewPool(extract.PoolOptions{Argv: []string{program, extractWorker}})
}
