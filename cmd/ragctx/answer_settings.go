package main

import (
	"strconv"

	"github.com/ragctx/ragctx/engine"
)

// answerSettings are the settings of the answer cache.
func answerSettings() []setting {
	return []setting{{
		"answer_cache", "memory for answers that are given again while nothing has changed, in MiB; 0 keeps none",
		fixed(strconv.Itoa(engine.DefaultAnswerCache >> 20)), checkUpTo(1 << 16),
	}}
}

// answerCache returns [engine.Options].AnswerCache, in bytes.
func (s *settings) answerCache() int {
	if n, _ := strconv.Atoi(s.k.String("answer_cache")); n > 0 { // checked
		return n << 20
	}
	return -1
}
