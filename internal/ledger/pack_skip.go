package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// RoleValidator is the role of agents that check the work of others.
const RoleValidator = "validator"

// maxSkipResults is how many of the newest results of validation are looked at for what
// cannot be validated, maxSkipBytes how much of them.
const (
	maxSkipResults = 50
	maxSkipBytes   = 8 << 20
)

const (
	cannotValidate = "CANNOT_VALIDATE"
	noReason       = "no reason was given"
)

// platformReasons are words of reasons that hold on one platform only.
var platformReasons = []string{"platform mismatch", "platform_mismatch", "wrong platform", "unsupported platform", "ebadplatform", "exec format error"}

// skipHints tells validators what others before them could not validate.
func (a *assembly) skipHints(ctx context.Context) (string, error) {
	if a.Agent.Role != RoleValidator || a.through == 0 {
		return "", nil
	}
	q := a.all(TopicValidationResult)
	q.Since, q.Newest, q.Limit, q.MaxBytes = a.Times.ClusterStart, true, maxSkipResults, maxSkipBytes
	results, err := a.Log.Query(ctx, q)
	if err != nil {
		return "", fmt.Errorf("results of validation: %w", err)
	}
	slices.Reverse(results)
	var b strings.Builder
	told := make(map[string]bool)
	for _, m := range results {
		if !Replayable(m) {
			continue
		}
		for _, c := range a.unverifiable(m) {
			if !told[c.id] {
				told[c.id] = true
				fmt.Fprintf(&b, "- %s: %s\n", c.id, c.reason)
			}
		}
	}
	if b.Len() == 0 {
		return "", nil
	}
	return "\n## Criteria That Cannot Be Validated\n\nValidators before you found these impossible to check. " +
		"Do not try again; report them as " + cannotValidate + ".\n\n" + b.String(), nil
}

type skipped struct{ id, reason string }

// unverifiable returns the criteria that a result could not say anything about.
func (a *assembly) unverifiable(m Message) (out []skipped) {
	all, _ := values(m.Data)["criteriaResults"].([]any)
	for _, v := range all {
		c, _ := v.(map[string]any)
		id, _ := oneText(c["id"], maxItem).(string)
		if id == "" || c["status"] != cannotValidate {
			continue
		}
		reason, _ := oneText(c["reason"], maxItem).(string)
		if a.Agent.Isolated && ofPlatform(reason) {
			continue
		}
		if reason == "" {
			reason = noReason
		}
		out = append(out, skipped{id, reason})
	}
	return out
}

func ofPlatform(reason string) bool {
	reason = strings.ToLower(reason)
	return slices.ContainsFunc(platformReasons, func(word string) bool { return strings.Contains(reason, word) })
}
