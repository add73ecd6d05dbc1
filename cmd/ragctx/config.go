package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const configHelp = `Config shows every setting, its value and the origin of the value. Flags win over the
environment, the environment over the settings file, the file over the defaults.

The settings file is a JSON object. A setting with several values may be a list.
allow_hosts, allow_server_hosts, allow_origins and snapshot_sections are lists of strings.
serve_docs is a list of paths, URLs and sources, and providers a list of providers:

  {"data": "/srv/ragctx", "namespace": "team", "log_level": "warn", "rate_limit": 20}`

func newConfig(env lookupEnv) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings and their origin",
		Long:  configHelp,
		Example: `  ragctx config
  ragctx config --json
  RAGCTX_NAMESPACE=team ragctx config`,
	}
	group(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runConfig(cmd, env, asJSON) }
	addSettings(cmd.Flags(), append(servedSettings(), "server")...)
	jsonFlag(cmd.Flags(), &asJSON)
	cmd.AddCommand(newConfigPath(env))
	return cmd
}

func newConfigPath(env lookupEnv) *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print the path of the settings file",
		Example: "  ${EDITOR:-vi} \"$(ragctx config path)\"",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, _, err := configPath(cmd, env)
			if err == nil && path == "" {
				err = errors.New("the environment names no home directory, so there is no settings file; name one with --config")
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
}

// shownSetting is one line of the list.
type shownSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Env    string `json:"env"`
	Help   string `json:"help"`
}

func runConfig(cmd *cobra.Command, env lookupEnv, asJSON bool) error {
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	var list []shownSetting
	for _, d := range allSettings() {
		list = append(list, shownSetting{d.name, s.k.String(d.name), s.origin[d.name], envName(d.name), d.help})
	}
	w := cmd.OutOrStdout()
	if asJSON {
		return writeJSON(w, list)
	}
	err = writeTable(w, "SETTING\tVALUE\tFROM\tMEANING", list, func(l shownSetting) []any {
		if l.Origin == fromEnv {
			l.Origin = "env " + l.Env
		}
		return []any{l.Name, l.Value, l.Origin, l.Help}
	})
	if err != nil {
		return err
	}
	state := "does not exist"
	if s.Found {
		state = "is read"
	}
	_, err = fmt.Fprintf(w, "\nsettings file %s %s\n", strings.TrimSpace(printable(s.File)), state)
	return err
}
