package main

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

// defaultDataDir returns the platform's directory for user data, or "" if the environment does not
// name the user's home.
func defaultDataDir(env lookupEnv) string {
	return dataDir(runtime.GOOS, env)
}

func dataDir(goos string, env lookupEnv) string {
	under := func(name string, more ...string) string {
		base, ok := env(name)
		if !ok || base == "" {
			return ""
		}
		return filepath.Join(append(append([]string{base}, more...), "ragctx")...)
	}
	switch goos {
	case "windows":
		return under("LocalAppData")
	case "darwin", "ios":
		return under("HOME", "Library", "Application Support")
	}
	// The XDG specification says that relative paths are ignored.
	if base, ok := env("XDG_DATA_HOME"); ok && filepath.IsAbs(base) {
		return filepath.Join(base, "ragctx")
	}
	return under("HOME", ".local", "share")
}

// configPath returns the path of the settings file and its origin: --config, RAGCTX_CONFIG or the
// platform's default, which is "" if the environment does not name the user's home.
func configPath(cmd *cobra.Command, env lookupEnv) (path, origin string, err error) {
	if f := cmd.Flags().Lookup("config"); f != nil && f.Changed {
		path, err := filepath.Abs(f.Value.String())
		return path, fromFlag, err
	}
	if p, ok := env(envPrefix + "CONFIG"); ok && p != "" {
		path, err := filepath.Abs(p)
		return path, fromEnv, err
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fromDefault, nil //nolint:nilerr // without a home there is no settings file
	}
	return filepath.Join(dir, "ragctx", "config.json"), fromDefault, nil
}
