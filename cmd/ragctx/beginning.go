package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// creators are the commands that may create a data directory. For all others a missing directory
// is probably a typing error in its path, and creating one would hide it.
var creators = []string{
	"serve", "mcp", "ingest", "import", "remember", "memory import", "procedures edit", "sessions create", "sessions append",
	"sessions import", "ledger publish", "ledger import",
	"namespaces create", "keys create", "bench",
}

// mayCreate reports whether a command may create a data directory.
func mayCreate(cmd *cobra.Command) bool {
	return slices.Contains(creators, strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "))
}

// requireDataDir fails if there is no data directory yet. A directory counts as soon as a process has
// locked it.
func (s *settings) requireDataDir() error {
	dir := s.Data
	if s.k.String("store") != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, store.DatabaseName)); !errors.Is(err, fs.ErrNotExist) || engine.OwnerOf(dir).PID != 0 {
		return nil
	}
	if s.origin["data"] == fromProject {
		return fmt.Errorf("this project has no data directory %s; 'ragctx ingest' and 'ragctx serve' make one%s",
			printable(dir), s.userWide(", --global uses %s"))
	}
	return fmt.Errorf("there is no data directory %s; 'ragctx serve' and 'ragctx ingest' make one, --data names another", printable(dir))
}
