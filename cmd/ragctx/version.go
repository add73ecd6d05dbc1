package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/index/vector/kernel"
	"github.com/ragctx/ragctx/internal/tokens"
)

// build describes the program.
type build struct {
	Version      string   `json:"version"`
	Revision     string   `json:"revision,omitempty"`
	Modified     bool     `json:"modified,omitempty"` // built from a modified tree
	Go           string   `json:"go"`
	Platform     string   `json:"platform"`
	Tokenizers   []string `json:"tokenizers"`
	VectorGraphs []string `json:"vector_graphs"`
	// VectorKernels are the instructions that multiply vectors on this machine.
	VectorKernels string `json:"vector_kernels"`
	Embedder      string `json:"embedder"`
}

func newVersion(lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and the built-in components",
		Example: "  ragctx version\n  ragctx version --json",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			b.Embedder = builtin.Default().Identity().String() // which takes a while to load
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), b)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "ragctx version", b)
			return err
		},
	}
	jsonFlag(cmd.Flags(), &asJSON)
	return cmd
}

// describe reads the build information; nil is none.
func describe(info *debug.BuildInfo) build {
	b := build{
		Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Tokenizers: tokens.Names(), VectorGraphs: vectorGraphs(), VectorKernels: kernel.Best().Name,
	}
	if info == nil {
		return b
	}
	b.Version = cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns what is printed after the name of the program.
func (b build) String() string {
	return fmt.Sprintf("%s\n%s %s\ntokenizers: %s\nvector graphs: %s\nvector kernels: %s\nembedder: %s", b.name(), b.Go, b.Platform,
		strings.Join(b.Tokenizers, ", "), strings.Join(b.VectorGraphs, ", "), b.VectorKernels, b.Embedder)
}

// name returns the version and the revision.
func (b build) name() string {
	revision := b.Revision
	if revision != "" && b.Modified {
		revision += " with changes"
	}
	if revision != "" {
		revision = " (" + revision + ")"
	}
	return b.Version + revision
}

// thisBuild describes the running program.
func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return describe(info)
}

// buildVersion returns the version alone.
func buildVersion() string { return thisBuild().Version }
