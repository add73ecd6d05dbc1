package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// RoleValidator is the role of agents that check the work of others.
const RoleValidator = "validator"

// Limits of the newest validation results that are searched for criteria that cannot be validated.
const (
	maxSkipResults = 50
	maxSkipBytes   = 8 << 20
)

const (
	cannotValidate = "CANNOT_VALIDATE"
	noReason       = "no reason was given"
)

// platformReasons occur in reasons that hold on one platform only.
var platformReasons = []string{
	"platform mismatch", "platform_mismatch", "wrong platform", "unsupported platform",
	"ebadplatform", "exec format error",
}

// skipHints lists for a validator the criteria that earlier validators could not validate.
func (a *assembly) skipHints(ctx context.Context) (string, error) {
	if a.Agent.Role != RoleValidator || a.through == 0 {
		return "", nil
	}
	q := a.query(TopicValidationResult)
	q.Since, q.Newest, q.Limit, q.MaxBytes = a.Times.ClusterStart, true, maxSkipResults, maxSkipBytes
	results, err := a.Log.Query(ctx, q)
	if err != nil {
		return "", fmt.Errorf("results of validation: %w", err)
	}
	slices.Reverse(results)
	var b strings.Builder
	listed := make(map[string]bool)
	for _, m := range results {
		if !Replayable(m) {
			continue
		}
		for _, c := range a.unverifiable(m) {
			if !listed[c.id] {
				listed[c.id] = true
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

type undecided struct{ id, reason string }

// unverifiable returns the criteria that a validation result could not decide.
func (a *assembly) unverifiable(m Message) (out []undecided) {
	all, _ := values(m.Data)["criteriaResults"].([]any)
	for _, v := range all {
		c, _ := v.(map[string]any)
		id, _ := singleLine(c["id"], maxItem).(string)
		if id == "" || c["status"] != cannotValidate {
			continue
		}
		reason, _ := singleLine(c["reason"], maxItem).(string)
		if a.Agent.Isolated && platformSpecific(reason) {
			continue
		}
		if reason == "" {
			reason = noReason
		}
		out = append(out, undecided{id, reason})
	}
	return out
}

func platformSpecific(reason string) bool {
	reason = strings.ToLower(reason)
	return slices.ContainsFunc(platformReasons, func(word string) bool { return strings.Contains(reason, word) })
}
