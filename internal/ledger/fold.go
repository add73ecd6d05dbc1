package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// Folder makes a [State] of messages. It is immutable and safe for concurrent use.
type Folder struct {
	sections map[string]string // by topic
	mark     string
}

// foldRules changes whenever the same messages give another state than before.
const foldRules = "1"

// NewFolder returns a folder of the six topics and of those given here, see
// [CheckSections]. A topic of the six can be given to another section.
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
	f.mark = hex.EncodeToString(sum[:8])
	return f, nil
}

// Topics returns the topics that change a state, sorted.
func (f *Folder) Topics() []string { return slices.Sorted(maps.Keys(f.sections)) }

// Knows reports whether messages of the topic change a state.
func (f *Folder) Knows(topic string) bool { return f.sections[topic] != "" }

// Apply returns the state after one more message of the cluster: the next one, by
// sequence, of [Folder.Topics]. It returns s itself for a message of another topic.
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

// fold makes the section of a message, or false where the section stays as it is.
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
	title := oneText(data["title"], 300)
	if title == nil || title == "" {
		title = oneText(firstLine(m.Text), 300)
	}
	return Section{
		"raw": text(m.Text, 2000), "title": title, "issueNumber": number,
		"source": oneText(values(m.Metadata)["source"], maxItem),
	}
}

func foldPlan(m Message, data map[string]any) Section {
	summary := oneText(data["summary"], 300)
	if summary == nil || summary == "" {
		summary = oneText(text(m.Text, len(m.Text)), 300)
	}
	return Section{
		"text": text(m.Text, 2500), "summary": summary,
		"acceptanceCriteria": list(data["acceptanceCriteria"], 10, criterion),
		"filesAffected":      list(data["filesAffected"], 20, wording("path", "file")),
		"updatedAt":          stamp(m),
	}
}

// criterion writes an acceptance criterion as "ID (PRIORITY): text".
func criterion(v any) any {
	o, ok := v.(map[string]any)
	if !ok {
		return oneText(v, maxItem)
	}
	says, _ := wording("criterion", "text", "description")(v).(string)
	id, _ := oneText(o["id"], maxItem).(string)
	if prio, _ := oneText(o["priority"], maxItem).(string); prio != "" && id != "" {
		id += " (" + prio + ")"
	}
	switch {
	case id == "":
		return oneText(says, maxItem)
	case says == "":
		return oneText(id, maxItem)
	}
	return oneText(id+": "+says, maxItem)
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
	summary := oneText(m.Text, 300)
	if summary == nil || summary == "" {
		summary = oneText(status["summary"], 300)
	}
	says := wording("text", "summary", "description", "message")
	return Section{
		"canValidate": boolean(status["canValidate"]), "percentComplete": number(status["percentComplete"]),
		"blockers": list(status["blockers"], 5, says), "nextSteps": list(status["nextSteps"], 10, says),
		"lastSummary": summary, "updatedAt": stamp(m),
	}, true
}

func foldValidation(m Message, data map[string]any) Section {
	says := wording("bug", "message", "error", "summary")
	errors := list(data["errors"], 5, says)
	if errors == nil {
		errors = list(data["issues"], 5, says)
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
	out := map[string]any{"id": oneText(o["id"], maxItem), "status": oneText(o["status"], maxItem), "reason": oneText(o["reason"], maxItem)}
	if e, ok := o["evidence"].(map[string]any); ok {
		out["evidence"] = map[string]any{"command": oneText(e["command"], maxItem), "exitCode": number(e["exitCode"])}
	}
	return prune(out)
}

func foldDebug(m Message, data map[string]any) Section {
	criteria := oneText(data["successCriteria"], 300)
	if several, ok := list(data["successCriteria"], 10, wording("criterion", "text", "description")).([]any); ok {
		criteria = oneText(joined(several), 300)
	}
	return Section{
		"fixPlan": text(m.Text, 1200), "successCriteria": criteria,
		"rootCauses": list(data["rootCauses"], 5, wording("cause", "summary", "description")), "updatedAt": stamp(m),
	}
}

// maxValues bounds the values of a section without rules of its own.
const maxValues = 20

// foldOther takes the text and the plain values of a message's data, by name.
func foldOther(m Message, data map[string]any) Section {
	kept := make(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if v := scalar(data[key]); v != nil && len(kept) < maxValues && len(key) <= maxItem {
			kept[key] = v
		}
	}
	return Section{"text": text(m.Text, 1200), "summary": oneText(text(m.Text, len(m.Text)), 300), "values": kept, "updatedAt": stamp(m)}
}
