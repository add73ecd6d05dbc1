package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// layer is one source of settings. It implements koanf's Provider.
type layer struct {
	name   string
	values map[string]any
}

// ReadBytes implements koanf.Provider. Only parsers call it, and there is no parser.
func (l layer) ReadBytes() ([]byte, error) { return json.Marshal(l.values) }

// Read implements koanf.Provider.
func (l layer) Read() (map[string]any, error) { return l.values, nil }

func defaults(env lookupEnv) map[string]any {
	m := make(map[string]any)
	for _, s := range allSettings() {
		m[s.name] = s.value(env)
	}
	return m
}

func environment(env lookupEnv) map[string]any {
	m := make(map[string]any)
	for _, s := range allSettings() {
		if v, ok := env(envName(s.name)); ok && v != "" {
			m[s.name] = v
		}
	}
	return m
}

func changed(flags *pflag.FlagSet) map[string]any {
	m := make(map[string]any)
	for _, s := range allSettings() {
		if f := flags.Lookup(flagName(s.name)); f != nil && f.Changed {
			m[s.name] = f.Value.String()
		}
	}
	return m
}

// readFile reads the settings file. The default file need not exist.
func (s *settings) readFile() (map[string]any, error) {
	b, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) && s.FileOrigin == fromDefault {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings file: %w", err)
	}
	s.Found = true
	values, err := parseSettings(s.File, b)
	return values, asUsage(err)
}

// parseSettings reads a JSON object of settings. Unknown names are errors, because a misspelt
// setting would be ignored silently.
func parseSettings(path string, b []byte) (map[string]any, error) {
	var raw map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("settings file %s: is not a JSON object: %w", path, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("settings file %s: has more than one JSON object", path)
	}
	var known []string
	for _, s := range allSettings() {
		known = append(known, s.name)
	}
	out := make(map[string]any, len(raw))
	for name, v := range raw {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("settings file %s: %q is not a setting; use %s", path, name, strings.Join(known, ", "))
		}
		text, err := settingText(name, v)
		if err != nil {
			return nil, fmt.Errorf("settings file %s: %s %w", path, name, err)
		}
		out[name] = text
	}
	return out, nil
}

// listed are the settings that may be lists of strings in the file.
var listed = []string{"allow_hosts", "allow_server_hosts", "allow_origins", "snapshot_sections"}

// settingText returns a setting of the file in the form that it has in the environment.
func settingText(name string, raw json.RawMessage) (string, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", fmt.Errorf("is not JSON: %w", err)
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case bool, float64:
		return string(raw), nil
	case []any:
		if name == "serve_docs" || name == providersSetting || name == stagesSetting || name == webhooksSetting {
			return string(raw), nil
		}
		if text, ok := joined(v); ok && slices.Contains(listed, name) {
			return text, nil
		}
	case map[string]any:
		if name == "serve_docs" {
			return string(raw), nil
		}
	}
	if slices.Contains(listed, name) {
		return "", errors.New("is neither a string nor a list of strings")
	}
	return "", errors.New("is neither a string nor a number, true or false")
}

// joined returns strings separated by commas.
func joined(list []any) (string, bool) {
	parts := make([]string, len(list))
	for i, v := range list {
		text, ok := v.(string)
		if !ok {
			return "", false
		}
		parts[i] = text
	}
	return strings.Join(parts, ", "), true
}
