package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/api/reference"
)

const openAPIHelp = `OpenAPI prints the OpenAPI 3.1 document of the REST API as JSON: every route with its
parameters, bodies and examples. A server has it at /openapi.json. With --markdown it is
written into a folder as pages for people; files of the same names are replaced.`

func newOpenAPI(lookupEnv) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "openapi",
		Short:   "Print the OpenAPI document of the REST API",
		Long:    openAPIHelp,
		Example: "  ragctx openapi > openapi.json\n  ragctx openapi --markdown ./reference",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc := api.OpenAPI(buildVersion())
			if cmd.Flags().Changed("markdown") {
				return writePages(cmd.OutOrStdout(), dir, doc)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", doc)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "markdown", "", "write pages of Markdown into this folder")
	return cmd
}

// writePages writes the pages of an OpenAPI document into a folder, and prints their number.
func writePages(w io.Writer, dir string, doc []byte) error {
	if dir == "" {
		return badUsage("--markdown names no folder")
	}
	pages, err := reference.Pages(doc)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // pages for everybody
		return fmt.Errorf("write pages: %w", err)
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), page, 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("write pages: %w", err)
		}
	}
	_, err = fmt.Fprintf(w, "%s in %s\n", amount(len(pages), "page"), dir)
	return err
}
