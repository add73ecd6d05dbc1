package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// memorySettings are the settings of memories, listed after the others.
func memorySettings() []option {
	w := ragctx.MemoryWeights{}.WithDefaults()
	return []option{
		{
			"memory_decay_days", "days after which the recency of a memory has fallen to 37 %",
			fixed(number(w.Decay.Hours() / 24)), checkDecay,
		},
		{"memory_importance_weight", "weight of importance in the score that orders memories", fixed(number(w.Importance)), checkWeight},
		{"memory_recency_weight", "weight of recency in the score that orders memories", fixed(number(w.Recency)), checkWeight},
		{
			"memory_max_working", "working memories of a user, agent and session",
			fixed(strconv.Itoa(ragctx.DefaultWorkingMemories)), checkTier,
		},
		{
			"memory_max_short_term", "number of the newest memories that count as short-term",
			fixed(strconv.Itoa(ragctx.DefaultShortTermMemories)), checkTier,
		},
		{
			"memory_extraction", "fact extraction from turns: rules, model, off, or auto, which uses the model if there is one",
			fixed("auto"),
			checkOneOf("auto", "rules", "model", "off"),
		},
		{"memory_redact", "removes secrets from turns and memories", fixed("true"), checkOneOf("true", "false")},
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func checkDecay(v string) error {
	if n, err := strconv.ParseFloat(v, 64); err != nil || !(n > 0 && n <= 36500) {
		return fmt.Errorf("is %q; use a number of days, more than 0 and at most 36500", ragctx.Clip(v))
	}
	return nil
}

func checkWeight(v string) error {
	if n, err := strconv.ParseFloat(v, 64); err != nil || !(n >= 0 && n <= 1) {
		return fmt.Errorf("is %q; use 0 to 1", ragctx.Clip(v))
	}
	return nil
}

func checkTier(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 100_000 {
		return fmt.Errorf("is %q; use a whole number from 1 to 100000", ragctx.Clip(v))
	}
	return nil
}

// useMemory copies the settings, each of which was checked.
func (s *settings) useMemory(o *engine.Options) error {
	value := func(name string) float64 {
		n, _ := strconv.ParseFloat(s.k.String(name), 64)
		return n
	}
	o.Weights = ragctx.MemoryWeights{
		Decay:      time.Duration(value("memory_decay_days") * float64(24*time.Hour)),
		Importance: value("memory_importance_weight"), Recency: value("memory_recency_weight"),
	}
	if o.Weights.Importance == 0 && o.Weights.Recency == 0 {
		return badUsage("%s and %s are both 0; nothing would order memories", s.where("memory_importance_weight"),
			s.where("memory_recency_weight"))
	}
	o.MaxWorking, o.MaxShortTerm = int(value("memory_max_working")), int(value("memory_max_short_term"))
	return nil
}
