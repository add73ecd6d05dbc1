package remote

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx/embed"
)

// Calibrate measures the noise floor of the model for [Options].Floor: the 95th percentile of the
// cosines of unrelated questions and statements. It sends two requests.
func (c *Client) Calibrate(ctx context.Context) (float64, error) {
	questions, statements := embed.Unrelated()
	for i := range questions {
		questions[i] = c.opts.QueryPrefix + questions[i]
	}
	for i := range statements {
		statements[i] = c.opts.DocumentPrefix + statements[i]
	}
	call := c.documentCall(c.fastSlots, nil)
	q, err := c.ask(ctx, call, questions)
	if err != nil {
		return 0, fmt.Errorf("calibrate %s: %w", c, err)
	}
	s, err := c.ask(ctx, call, statements)
	if err != nil {
		return 0, fmt.Errorf("calibrate %s: %w", c, err)
	}
	return embed.NoiseFloor(q, s), nil
}
