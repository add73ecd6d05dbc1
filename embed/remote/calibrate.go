package remote

import (
	"context"
	"fmt"
	"slices"
)

// Questions and statements of which none has to do with another.
var (
	unrelatedQuestions = []string{
		"How do I change a bicycle tyre?", "When was the treaty signed?", "Which spices go into a curry?",
		"How do I roll back a release?", "Why is the sky blue?", "What does the warranty cover?",
		"How long is the notice period?", "Which key begins the second movement?",
	}
	unrelatedStatements = []string{
		"Penguins take turns on the egg while the other parent fishes.", "The invoice is due thirty days after delivery.",
		"A mutex must not be copied after its first use.", "The ferry to the island leaves twice a day in winter.",
		"Knead the dough until it no longer sticks to the bowl.", "The striker scored in the last minute of extra time.",
		"Granite forms when magma cools slowly under the ground.", "Her grandmother learned to weave in the village.",
		"The patient should not eat for six hours before the scan.", "Set the variable to false to switch the cache off.",
		"The painting was sold at an auction for a record price.", "Rain is expected in the north on Thursday night.",
	}
)

// Calibrate measures the cosine that unrelated texts stay below with this model,
// for [Options].Floor: 95 of 100 pairs of a question and a statement on other things
// do. It sends two requests.
func (c *Client) Calibrate(ctx context.Context) (float64, error) {
	questions, statements := slices.Clone(unrelatedQuestions), slices.Clone(unrelatedStatements)
	for i := range questions {
		questions[i] = c.opts.QueryPrefix + questions[i]
	}
	for i := range statements {
		statements[i] = c.opts.DocumentPrefix + statements[i]
	}
	call := c.documentCall(c.fast, nil)
	q, err := c.ask(ctx, call, questions)
	if err != nil {
		return 0, fmt.Errorf("calibrate %s: %w", c, err)
	}
	s, err := c.ask(ctx, call, statements)
	if err != nil {
		return 0, fmt.Errorf("calibrate %s: %w", c, err)
	}
	var cosines []float64
	for _, a := range q {
		for _, b := range s {
			cosines = append(cosines, dot(a, b))
		}
	}
	slices.Sort(cosines)
	return max(cosines[len(cosines)*95/100], 0), nil
}

// dot is the cosine of vectors of length 1; 0 if one is missing or of another length.
func dot(a, b []float32) (sum float64) {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
