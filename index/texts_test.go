package index

import "testing"

func TestTexts(t *testing.T) {
	texts := []string{"The capital of France is Paris.", "Bread is baked in an oven.", "Paris hosted the games.", ""}
	got := Texts("What is the capital of France?", texts, nil, Fusion{})
	for i, r := range got {
		if !(r >= 0 && r <= 1) {
			t.Errorf("text %d has %v", i, r)
		}
	}
	if got[0] < 0.4 || got[0] <= got[2] || got[1] != 0 || got[2] != 0 || got[3] != 0 {
		t.Errorf("relevance by words %v", got)
	}
	with := Texts("What is the capital of France?", texts, []float64{0.6, 0.1, 0.5, 0}, Fusion{})
	if with[0] <= with[2] || with[2] <= 0 || with[3] != 0 {
		t.Errorf("relevance with cosines %v", with)
	}
	if again := Texts("What is the capital of France?", texts, []float64{0.6, 0.1, 0.5, 0}, Fusion{}); again[0] != with[0] {
		t.Errorf("%v and %v", again, with)
	}
	if got := Texts("", []string{"a"}, nil, Fusion{}); got[0] != 0 {
		t.Errorf("an empty question: %v", got)
	}
}
