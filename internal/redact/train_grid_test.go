package redact_test

import (
	"strings"

	"github.com/ragctx/ragctx/internal/redact"
)

func init() {
	for _, g := range grids {
		g.wordings(func(_, text string, secrets []string) { redact.AddTrainText(text, secrets, 1.5) })
	}
	for _, h := range harmlessGrids {
		for _, noun := range split(h.nouns) {
			for _, frame := range split(h.frames) {
				redact.AddTrainText(strings.ReplaceAll(strings.ReplaceAll(frame, "X", noun), "⏎", "\n"), nil, 1.2)
			}
		}
	}
}
