package embed

import "slices"

// Unrelated returns questions and statements on unrelated topics.
func Unrelated() (questions, statements []string) {
	questions = []string{
		"How do I change a bicycle tyre?", "When was the treaty signed?", "Which spices go into a curry?",
		"How do I roll back a release?", "Why is the sky blue?", "What does the warranty cover?",
		"How long is the notice period?", "Which key begins the second movement?",
	}
	statements = []string{
		"Penguins take turns on the egg while the other parent fishes.", "The invoice is due thirty days after delivery.",
		"A mutex must not be copied after its first use.", "The ferry to the island leaves twice a day in winter.",
		"Knead the dough until it no longer sticks to the bowl.", "The striker scored in the last minute of extra time.",
		"Granite forms when magma cools slowly under the ground.", "Her grandmother learned to weave in the village.",
		"The patient should not eat for six hours before the scan.", "Set the variable to false to switch the cache off.",
		"The painting was sold at an auction for a record price.", "Rain is expected in the north on Thursday night.",
	}
	return questions, statements
}

// NoiseFloor returns the 95th percentile of the cosines of all pairs of a question and a statement.
// The vectors must have length 1. The result is at least 0, and 0 without vectors. For [Unrelated]
// texts it is the noise floor.
func NoiseFloor(questions, statements [][]float32) float64 {
	var cosines []float64
	for _, q := range questions {
		for _, s := range statements {
			if q != nil && len(q) == len(s) {
				cosines = append(cosines, dot(q, s))
			}
		}
	}
	if len(cosines) == 0 {
		return 0
	}
	slices.Sort(cosines)
	return max(cosines[len(cosines)*95/100], 0)
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
