package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// conversationSettings are the settings of compression of long conversations.
func conversationSettings() []option {
	flag, most := checkOneOf("true", "false"), checkUpTo(1<<20)
	return []option{
		{
			"observation_enabled", "writes notes on long turns of conversations with the layer observation, and shows a model's notes " +
				"where messages do not fit",
			fixed("true"), flag,
		},
		{
			"observation_min_messages", "smallest number of messages of a turn that is observed",
			fixed(strconv.Itoa(stage.DefaultMinMessages)), checkCount(1 << 20),
		},
		{
			"observation_reflection_threshold", "number of observations that are merged into one; 0 never merges",
			fixed(strconv.Itoa(stage.DefaultReflectionThreshold)), checkReflection,
		},
		{"compaction_enabled", "compacts stored conversations when it is due", fixed("true"), flag},
		{
			"compaction_keep_first", "messages that a compaction keeps at the beginning",
			fixed(strconv.Itoa(compact.DefaultKeepFirst)), most,
		},
		{
			"compaction_keep_last", "largest number of messages that a compaction keeps at the end",
			fixed(strconv.Itoa(compact.DefaultKeepLast)), most,
		},
		{
			"compaction_threshold", "share of the model's window from which compaction is due, 0.05 to 1",
			fixed(fmt.Sprint(compact.DefaultThreshold)), checkThreshold,
		},
		{
			"compaction_timeout", "timeout of a language model's summary, 100ms to 10m; after that the conversation's own sentences " +
				"replace it",
			fixed(view.DefaultCompactionTimeout.String()), checkCompactionTimeout,
		},
		{
			"truncate_max_messages", "largest number of messages of a stored conversation that a model is shown; 0 is no limit",
			fixed("0"), most,
		},
		{
			"truncate_max_tokens", "largest number of tokens of these messages; 0 is no limit except the call's budget",
			fixed("0"),
			checkUpTo(ragctx.MaxTokensLimit),
		},
		{stagesSetting, "stages behind URLs, a JSON list", fixed(""), nil},
	}
}

func checkReflection(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 0 || n == 1 || n > 1<<20 {
		return fmt.Errorf("is %q; use a whole number from 2 to %d, or 0 for never", ragctx.Clip(v), 1<<20)
	}
	return nil
}

func checkThreshold(v string) error {
	if f, err := strconv.ParseFloat(v, 64); err != nil || !(f >= .05 && f <= 1) {
		return fmt.Errorf("is %q; use 0.05 to 1", ragctx.Clip(v))
	}
	return nil
}

func checkCompactionTimeout(v string) error {
	if d, err := time.ParseDuration(v); err != nil || d < 100*time.Millisecond || d > 10*time.Minute {
		return fmt.Errorf("is %q; use 100ms to 10m, such as 15s", ragctx.Clip(v))
	}
	return nil
}

// conversation returns the settings, each of which was checked.
func (s *settings) conversation() (out view.Settings) {
	count := func(name string) int { n, _ := strconv.Atoi(s.k.String(name)); return n }
	none := func(n int) int { // there 0 is the default, and -1 is none
		if n == 0 {
			return -1
		}
		return n
	}
	out.Observation = view.ObservationSettings{
		Disabled: s.k.String("observation_enabled") != "true", MinMessages: count("observation_min_messages"),
		ReflectionThreshold: none(count("observation_reflection_threshold")),
	}
	threshold, _ := strconv.ParseFloat(s.k.String("compaction_threshold"), 64)
	timeout, _ := time.ParseDuration(s.k.String("compaction_timeout"))
	out.Compaction = view.CompactionSettings{
		Disabled: s.k.String("compaction_enabled") != "true", Threshold: threshold, Timeout: timeout,
		KeepFirst: none(count("compaction_keep_first")), KeepLast: none(count("compaction_keep_last")),
	}
	out.Truncate = view.TruncateSettings{MaxMessages: count("truncate_max_messages"), MaxTokens: count("truncate_max_tokens")}
	return out
}
