package main

import (
	"fmt"
	"strconv"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/procedures"
)

// procedureSettings are the settings of procedures that are extracted from turns.
func procedureSettings() []option {
	return []option{
		{"procedures_enabled", "extracts procedures from turns", fixed("true"), checkOneOf("true", "false")},
		{
			"procedures_min_tool_calls", "tool calls that a turn needs before a procedure is extracted",
			fixed(strconv.Itoa(procedures.DefaultMinToolCalls)), checkCount(1 << 10),
		},
		{
			"procedures_min_confidence", "confidence of the agent that a turn needs before a procedure is extracted, above 0 up to " +
				"1",
			fixed(fmt.Sprint(procedures.DefaultMinConfidence)), checkConfidence,
		},
	}
}

func checkConfidence(v string) error {
	if f, err := strconv.ParseFloat(v, 64); err != nil || !(f > 0 && f <= 1) {
		return fmt.Errorf("is %q; use a number above 0, at most 1", ragctx.Clip(v))
	}
	return nil
}

// procedureGate returns the conditions on turns for extracting procedures.
func (s *settings) procedureGate() procedures.Gate {
	calls, _ := strconv.Atoi(s.k.String("procedures_min_tool_calls")) // checked
	sure, _ := strconv.ParseFloat(s.k.String("procedures_min_confidence"), 64)
	return procedures.Gate{Disabled: s.k.String("procedures_enabled") != "true", MinToolCalls: calls, MinConfidence: sure}
}
