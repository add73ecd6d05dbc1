package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/session/stage"
	stageremote "github.com/ragctx/ragctx/session/stage/remote"
)

// stagesSetting is the setting with the stages that are programs of their own.
const stagesSetting = "stages"

// maxStages bounds the stages: each view calls one after the other.
const maxStages = 16

// What happens to a call if a stage fails: it goes on without the stage, or fails.
const (
	failOpen   = "open"
	failClosed = "closed"
)

// defaultStagePriority is after observations and before compaction.
const defaultStagePriority = 15

// stageSetting is a stage in the settings.
type stageSetting struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	Priority int    `json:"priority"`
	Persist  bool   `json:"persist"`
	// OnFailure is open or closed.
	OnFailure string   `json:"on_failure"`
	Timeout   duration `json:"timeout"`
	secretSource
	MaxBytes int64 `json:"max_bytes"`
}

// readStages reads the setting.
func (s *settings) readStages() ([]stageSetting, error) {
	return readPrograms[stageSetting](s, stagesSetting, "stage", maxStages,
		`[{"name": "redact", "url": "http://127.0.0.1:9000/stage", "on_failure": "closed"}]`)
}

// useStages gives the engine the stages of the settings.
func (s *settings) useStages(o *engine.Options) (closeAll func(), err error) {
	list, err := s.readStages()
	if err != nil {
		return nil, err
	}
	var made []*stageremote.Stage
	closeAll = func() {
		for _, one := range made {
			one.Close()
		}
	}
	for i, set := range list {
		one, err := set.open(s.env, o)
		if err == nil && taken(o.Stages, one.Name()) {
			err = fmt.Errorf("name: %q is taken; give each stage a name of its own", one.Name())
		}
		if err != nil {
			closeAll()
			return nil, badUsage("%s: stage %d: %v", s.where(stagesSetting), i+1, err)
		}
		made, o.Stages = append(made, one), append(o.Stages, one)
	}
	return closeAll, nil
}

// taken reports whether a stage, built-in or not, has a name.
func taken(stages []stage.Stage, name string) bool {
	own := []stage.Stage{stage.Observation{}, stage.Compaction{}, stage.Truncation{}}
	return slices.ContainsFunc(append(own, stages...), func(s stage.Stage) bool { return s.Name() == name })
}

// open makes a stage from its settings.
func (set stageSetting) open(env lookupEnv, o *engine.Options) (*stageremote.Stage, error) {
	if set.OnFailure != "" && set.OnFailure != failOpen && set.OnFailure != failClosed {
		return nil, ragctx.Invalid("on_failure", "%q is unknown; use closed for a stage that hides something, or open",
			ragctx.Clip(set.OnFailure))
	}
	secret, err := set.secret(env)
	if err != nil {
		return nil, err
	}
	return stageremote.New(stageremote.Options{
		Name: set.Name, URL: set.URL, Priority: cmp.Or(set.Priority, defaultStagePriority),
		Persist: set.Persist, Closed: set.OnFailure == failClosed,
		Timeout: time.Duration(set.Timeout), Secret: secret, MaxBytes: set.MaxBytes, Logger: o.Logger,
	})
}

// greetStages prints which data goes to which program.
func (s *settings) greetStages(w io.Writer) {
	list, _ := s.readStages() // read without errors before
	for _, one := range list {
		fails := "it is left out when it fails: " + failClosed + " at on_failure is for stages that hide something"
		if one.OnFailure == failClosed {
			fails = "no call is put together when it fails"
		}
		fmt.Fprintf(w, "stage %s: %s; it is sent the messages of stored conversations, and %s\n", one.Name, origin(one.URL), fails)
	}
}
