package web

import (
	"regexp"
	"strings"
	"testing"
)

var (
	sectionName = regexp.MustCompile(`/\*\s*([^*]+?)\s*\*/`)
	ruleOf      = regexp.MustCompile(`([^{}]+)\{[^{}]*\}`)
	aloneClass  = regexp.MustCompile(`^[a-z]*\.([a-z][a-z0-9-]*)(?::[a-z-]+|\[[^\]]*\])*$`)
)

// TestClassesHaveOneMeaning: no class is described alone, without an element around it, in two parts of the stylesheet. Such a
// class would look on one page as another page wants it.
func TestClassesHaveOneMeaning(t *testing.T) {
	sheet, err := assets.ReadFile("assets/console.css")
	if err != nil {
		t.Fatal(err)
	}
	parts := make(map[string]string) // of the classes
	text := string(sheet)
	marks := sectionName.FindAllStringSubmatchIndex(text, -1)
	if len(marks) < 8 {
		t.Fatalf("the stylesheet has %d parts", len(marks))
	}
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name, _, _ := strings.Cut(text[m[2]:m[3]], ":")
		if i == 0 {
			name = "What pages share."
		}
		for _, rule := range ruleOf.FindAllStringSubmatch(text[m[1]:end], -1) {
			for selector := range strings.SplitSeq(rule[1], ",") {
				found := aloneClass.FindStringSubmatch(strings.TrimSpace(selector))
				if found == nil {
					continue
				}
				if before := parts[found[1]]; before != "" && before != name {
					t.Errorf("the class %s has rules in two parts: %q and %q", found[1], before, name)
				}
				parts[found[1]] = name
			}
		}
	}
	if len(parts) < 50 {
		t.Errorf("the test has found %d classes only", len(parts))
	}
}
