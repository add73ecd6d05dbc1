package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/session/view"
)

// settingsOf loads the settings of an environment.
func settingsOf(t *testing.T, vars map[string]string) (settings, error) {
	t.Helper()
	home := t.TempDir()
	return load(&cobra.Command{}, func(name string) (string, bool) {
		if v, ok := vars[name]; ok {
			return v, true
		}
		return map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}[name], name == "HOME" || strings.HasPrefix(name, "XDG_")
	})
}

func TestConversationSettings(t *testing.T) {
	s, err := settingsOf(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	preset := s.conversation()
	if preset.Observation != (view.ObservationSettings{MinMessages: 10, ReflectionThreshold: 5}) ||
		preset.Compaction != (view.CompactionSettings{KeepFirst: 2, KeepLast: 20, Threshold: .8, Timeout: 15 * time.Second}) || preset.Truncate != (view.TruncateSettings{}) {
		t.Errorf("%+v", preset)
	}
	s, err = settingsOf(t, map[string]string{
		"RAGCTX_OBSERVATION_ENABLED": "false", "RAGCTX_OBSERVATION_MIN_MESSAGES": "4", "RAGCTX_OBSERVATION_REFLECTION_THRESHOLD": "0",
		"RAGCTX_COMPACTION_ENABLED": "false", "RAGCTX_COMPACTION_KEEP_FIRST": "0", "RAGCTX_COMPACTION_KEEP_LAST": "7", "RAGCTX_COMPACTION_THRESHOLD": "1", "RAGCTX_COMPACTION_TIMEOUT": "2m",
		"RAGCTX_TRUNCATE_MAX_MESSAGES": "50", "RAGCTX_TRUNCATE_MAX_TOKENS": "9000",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := view.Settings{
		Observation: view.ObservationSettings{Disabled: true, MinMessages: 4, ReflectionThreshold: -1},
		Compaction:  view.CompactionSettings{Disabled: true, KeepFirst: -1, KeepLast: 7, Threshold: 1, Timeout: 2 * time.Minute},
		Truncate:    view.TruncateSettings{MaxMessages: 50, MaxTokens: 9000},
	}
	if d := gocmp.Diff(want, s.conversation()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if err := s.conversation().Validate(); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{
		"OBSERVATION_ENABLED": "yes", "OBSERVATION_MIN_MESSAGES": "0", "OBSERVATION_REFLECTION_THRESHOLD": "1", "COMPACTION_ENABLED": "1",
		"COMPACTION_KEEP_FIRST": "-1", "COMPACTION_KEEP_LAST": "x", "COMPACTION_THRESHOLD": "0", "COMPACTION_TIMEOUT": "1h", "TRUNCATE_MAX_MESSAGES": "-1", "TRUNCATE_MAX_TOKENS": "999999999",
	} {
		if _, err := settingsOf(t, map[string]string{"RAGCTX_" + name: value}); err == nil || !strings.Contains(err.Error(), "RAGCTX_"+name+": ") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestStageSettings(t *testing.T) {
	open := func(vars map[string]string) (engine.Options, error) {
		t.Helper()
		s, err := settingsOf(t, vars)
		if err != nil {
			t.Fatal(err)
		}
		var o engine.Options
		closeAll, err := s.useStages(&o)
		if err == nil {
			t.Cleanup(closeAll)
		}
		return o, err
	}
	file := filepath.Join(t.TempDir(), "config.json")
	config := `{"stages": [
		{"name": "redact", "url": "http://127.0.0.1:9/stage", "timeout": "500ms", "persist": true, "on_failure": "closed", "secret_env": "STAGE_SECRET"},
		{"name": "late", "url": "http://127.0.0.1:9/late", "priority": 40}]}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := open(map[string]string{"RAGCTX_CONFIG": file, "STAGE_SECRET": "0123456789abcdef"})
	if err != nil || len(o.Stages) != 2 || o.Stages[0].Priority() != defaultStagePriority || o.Stages[1].Priority() != 40 {
		t.Errorf("%+v, %v", o.Stages, err)
	}
	for i, want := range []ragctx.FailureMode{ragctx.FailClosed, ragctx.BestEffort} {
		if got := o.Stages[i].(ragctx.FailurePolicy).FailureMode(); got != want {
			t.Errorf("stage %d: failure mode %v", i, got)
		}
	}
	for value, want := range map[string]string{
		`[{"name":"a","url":"http://127.0.0.1:9","on_failure":"shut"}]`: "on_failure",
		`{}`:                               "is not a JSON list",
		`[{"name":"a"}]`:                   "stage 1: url",
		`[{"name":"a","url":"x","uri":1}]`: `stage 1: unknown field "uri"`,
		`[{"name":"truncation","url":"http://127.0.0.1:9"}]`:                                "is taken",
		`[{"name":"a","url":"http://127.0.0.1:9"},{"name":"a","url":"http://127.0.0.1:9"}]`: "stage 2: name",
		`[{"name":"a","url":"http://127.0.0.1:9","secret_env":"NONE"}]`:                     "not set",
		`[{"name":"a","url":"http://127.0.0.1:9","timeout":"2m"}]`:                          "timeout",
		`[{"name":"a","url":"http://127.0.0.1:9","secret_env":"A","secret_file":"b"}]`:      "contradicts",
	} {
		if _, err := open(map[string]string{"RAGCTX_STAGES": value}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "RAGCTX_STAGES") {
			t.Errorf("%s: %v", value, err)
		}
	}
}
