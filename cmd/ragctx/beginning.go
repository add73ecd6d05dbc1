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

// beginners are the commands that may begin a data directory. The others look into one
// or change what is there: one that is not there is a slip in a path, and to begin
// it would hide that.
var beginners = []string{
	"serve", "mcp", "ingest", "remember", "memory import", "procedures edit", "sessions create", "sessions append", "sessions import", "ledger publish", "ledger import",
	"namespaces create", "keys create", "bench", "bench soak",
}

// begins reports whether a command may begin a data directory.
func begins(cmd *cobra.Command) bool {
	return slices.Contains(beginners, strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "))
}

// begun fails where there is no data directory yet. One that a process is about to
// begin is there.
func begun(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, store.DatabaseName)); !errors.Is(err, fs.ErrNotExist) || engine.OwnerOf(dir).PID != 0 {
		return nil
	}
	return fmt.Errorf("there is no data directory %s; 'ragctx serve' and 'ragctx ingest' make one, --data names another", printable(dir))
}
