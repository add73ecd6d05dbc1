package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// Folder folds messages into a [State]. It is immutable and safe for concurrent use.
type Folder struct {
	sections    map[string]string // by topic
	fingerprint string
}

// foldRules is the version of the folding rules. Change it when the same messages fold into a
// different state.
const foldRules = "1"

// NewFolder returns a folder of the six known topics and the given ones, see [CheckSections]. A
// known topic can be assigned to another section.
func NewFolder(topics map[string]string) (*Folder, error) {
	if err := CheckSections(topics); err != nil {
		return nil, err
	}
	f := &Folder{sections: map[string]string{
		TopicIssueOpened:         SectionTask,
		TopicPlanReady:           SectionPlan,
		TopicWorkerProgress:      SectionProgress,
		TopicImplementationReady: SectionProgress,
		TopicValidationResult:    SectionValidation,
		TopicInvestigation:       SectionDebug,
	}}
	maps.Copy(f.sections, topics)
	raw, err := json.Marshal([]any{foldRules, f.sections})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	f.fingerprint = hex.EncodeToString(sum[:8])
	return f, nil
}

// Topics returns the topics that change a state, sorted.
func (f *Folder) Topics() []string { return slices.Sorted(maps.Keys(f.sections)) }

// Folds reports whether messages of the topic change a state.
func (f *Folder) Folds(topic string) bool { return f.sections[topic] != "" }

// Apply returns the state after m, the next message of the cluster by sequence. It returns s
// unchanged for a message of another topic.
func (f *Folder) Apply(s State, m Message) State {
	name := f.sections[m.Topic]
	if name == "" || s.ClusterID != "" && s.ClusterID != m.Cluster {
		return s
	}
	out := State{
		Version: StateVersion, UpdatedAt: m.Timestamp, ClusterID: m.Cluster, SourceMessageID: m.ID, Sections: maps.Clone(s.Sections),
	}
	if sec, ok := fold(name, m); ok {
		out.set(name, pruned(sec))
	}
	return out
}

// fold builds the section of a message. It returns false if the section stays as it was.
func fold(name string, m Message) (Section, bool) {
	data := values(m.Data)
	switch name {
	case SectionTask:
		return foldTask(m, data), true
	case SectionPlan:
		return foldPlan(m, data), true
	case SectionProgress:
		return foldProgress(m, data)
	case SectionValidation:
		return foldValidation(m, data), true
	case SectionDebug:
		return foldDebug(m, data), true
	default:
		return foldOther(m, data), true
	}
}

func foldTask(m Message, data map[string]any) Section {
	number := scalar(data["issueNumber"])
	if number == nil {
		number = scalar(data["issue_number"])
	}
	title := singleLine(data["title"], 300)
	if title == nil || title == "" {
		title = singleLine(firstLine(m.Text), 300)
	}
	return Section{
		"raw": text(m.Text, 2000), "title": title, "issueNumber": number,
		"source": singleLine(values(m.Metadata)["source"], maxItem),
	}
}

func foldPlan(m Message, data map[string]any) Section {
	summary := singleLine(data["summary"], 300)
	if summary == nil || summary == "" {
		summary = singleLine(text(m.Text, len(m.Text)), 300)
	}
	return Section{
		"text": text(m.Text, 2500), "summary": summary,
		"acceptanceCriteria": list(data["acceptanceCriteria"], 10, criterion),
		"filesAffected":      list(data["filesAffected"], 20, textOf("path", "file")),
		"updatedAt":          stamp(m),
	}
}

// criterion formats an acceptance criterion as "ID (PRIORITY): text".
func criterion(v any) any {
	o, ok := v.(map[string]any)
	if !ok {
		return singleLine(v, maxItem)
	}
	body, _ := textOf("criterion", "text", "description")(v).(string)
	id, _ := singleLine(o["id"], maxItem).(string)
	if prio, _ := singleLine(o["priority"], maxItem).(string); prio != "" && id != "" {
		id += " (" + prio + ")"
	}
	switch {
	case id == "":
		return singleLine(body, maxItem)
	case body == "":
		return singleLine(id, maxItem)
	}
	return singleLine(id+": "+body, maxItem)
}

func foldProgress(m Message, data map[string]any) (Section, bool) {
	status, ok := data["completionStatus"].(map[string]any)
	if !ok {
		_, can := data["canValidate"]
		_, percent := data["percentComplete"]
		if status = data; !can && !percent {
			return nil, false
		}
	}
	summary := singleLine(m.Text, 300)
	if summary == nil || summary == "" {
		summary = singleLine(status["summary"], 300)
	}
	describe := textOf("text", "summary", "description", "message")
	return Section{
		"canValidate": boolean(status["canValidate"]), "percentComplete": number(status["percentComplete"]),
		"blockers": list(status["blockers"], 5, describe), "nextSteps": list(status["nextSteps"], 10, describe),
		"lastSummary": summary, "updatedAt": stamp(m),
	}, true
}

func foldValidation(m Message, data map[string]any) Section {
	describe := textOf("bug", "message", "error", "summary")
	errors := list(data["errors"], 5, describe)
	if errors == nil {
		errors = list(data["issues"], 5, describe)
	}
	return Section{
		"approved": boolean(data["approved"]), "errors": errors,
		"criteriaResults": list(data["criteriaResults"], 10, criterionResult), "updatedAt": stamp(m),
	}
}

func criterionResult(v any) any {
	o, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]any{
		"id": singleLine(o["id"], maxItem), "status": singleLine(o["status"], maxItem),
		"reason": singleLine(o["reason"], maxItem),
	}
	if e, ok := o["evidence"].(map[string]any); ok {
		out["evidence"] = map[string]any{"command": singleLine(e["command"], maxItem), "exitCode": number(e["exitCode"])}
	}
	return prune(out)
}

func foldDebug(m Message, data map[string]any) Section {
	criteria := singleLine(data["successCriteria"], 300)
	if several, ok := list(data["successCriteria"], 10, textOf("criterion", "text", "description")).([]any); ok {
		criteria = singleLine(joinStrings(several), 300)
	}
	return Section{
		"fixPlan": text(m.Text, 1200), "successCriteria": criteria,
		"rootCauses": list(data["rootCauses"], 5, textOf("cause", "summary", "description")), "updatedAt": stamp(m),
	}
}

// maxValues bounds the values of a section without rules of its own.
const maxValues = 20

// foldOther keeps the text and the scalar values of a message's data, by name.
func foldOther(m Message, data map[string]any) Section {
	fields := make(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if v := scalar(data[key]); v != nil && len(fields) < maxValues && len(key) <= maxItem {
			fields[key] = v
		}
	}
	return Section{
		"text": text(m.Text, 1200), "summary": singleLine(text(m.Text, len(m.Text)), 300),
		"values": fields, "updatedAt": stamp(m),
	}
}
