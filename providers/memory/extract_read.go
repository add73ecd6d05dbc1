package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// readItem parses an item. Its errors name the field and do not quote the content.
func readItem(raw string) (*LLMItem, error) {
	var f fields
	if err := json.Unmarshal([]byte(raw), &f); err != nil || f == nil {
		if strings.HasPrefix(raw, "{") {
			return nil, errors.New("it is not valid JSON, or was cut off")
		}
		return nil, errors.New("it is not an object")
	}
	var it LLMItem
	var day string
	for _, get := range [...]error{
		f.get("memory_type", &it.Type, "a string"),
		f.get("content", &it.Content, "a string"),
		f.get("importance", &it.Importance, "a number"),
		f.get("confidence", &it.Confidence, "a number"),
		f.get("source", &it.Source, "a string"),
		f.get("scope", &it.Scope, "a string"),
		f.get("reason", &it.Reason, "a string"),
		f.find("tags", &it.Tags, "a list of strings"),
		f.find("supersedes", &it.Supersedes, "a list of strings"),
		f.find("conflicts_with", &it.ConflictsWith, "a list of strings"),
		f.find("occurred", &day, "a string"),
		f.find("when", &it.When, "a string"),
	} {
		if get != nil {
			return nil, get
		}
	}
	it.Occurred, _ = timeexpr.Dates{}.Parse(day) // zero on error
	return &it, nil
}

// fields holds the fields of a JSON object.
type fields map[string]json.RawMessage

// get reads a required field.
func (f fields) get(name string, into any, kind string) error {
	if raw, ok := f[name]; !ok || string(raw) == "null" {
		return fmt.Errorf("%s is missing", name)
	}
	return f.find(name, into, kind)
}

// find reads an optional field.
func (f fields) find(name string, into any, kind string) error {
	raw, ok := f[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s is not %s", name, kind)
	}
	return nil
}
