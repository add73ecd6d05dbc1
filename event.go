package ragctx

import "time"

// EventType names what happened.
type EventType string

// The event types, each with the struct that its events carry as Data.
const (
	EventContextResolving        EventType = "context_resolving"         // ContextResolving
	EventContextResolved         EventType = "context_resolved"          // ContextResolved
	EventContextWarning          EventType = "context_warning"           // ContextWarning
	EventContextCompacting       EventType = "context_compacting"        // ContextCompacting
	EventContextCompacted        EventType = "context_compacted"         // ContextCompacted
	EventMemoryStored            EventType = "memory_stored"             // MemoryStored
	EventMemoryRecalled          EventType = "memory_recalled"           // MemoryRecalled
	EventMemoriesSearched        EventType = "memories_searched"         // MemoriesSearched
	EventMemoryCleared           EventType = "memory_cleared"            // MemoryCleared
	EventPersistenceFailed       EventType = "persistence_failed"        // PersistenceFailed
	EventMessagesMovedToBuffer   EventType = "messages_moved_to_buffer"  // MessagesMovedToBuffer
	EventMessageBufferSummarized EventType = "message_buffer_summarized" // MessageBufferSummarized
	EventStoreFailed             EventType = "store_failed"              // StoreFailed
	EventEventsLost              EventType = "events_lost"               // EventsLost
)

// EventTypes lists all types of events.
func EventTypes() []EventType {
	return []EventType{
		EventContextResolving, EventContextResolved, EventContextWarning, EventContextCompacting, EventContextCompacted,
		EventMemoryStored, EventMemoryRecalled, EventMemoriesSearched, EventMemoryCleared, EventPersistenceFailed,
		EventMessagesMovedToBuffer, EventMessageBufferSummarized, EventStoreFailed, EventEventsLost,
	}
}

// Event is the envelope of everything that is published. Seq is strictly
// increasing within a data directory, also over restarts; it has gaps.
type Event struct {
	Seq       uint64    `json:"seq" doc:"grows with every event of the data directory, over restarts too; it has gaps"`
	ID        string    `json:"id" doc:"unique"`
	Type      EventType `json:"type" doc:"what happened; it says what data is"`
	Time      time.Time `json:"time"`
	Namespace string    `json:"namespace,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	RequestID string    `json:"request_id,omitempty" doc:"of the request that it happened in, as in its header X-Request-ID"`
	Data      any       `json:"data,omitempty" doc:"depends on type"`

	// UserID is whose event it is. It decides who is told.
	UserID string `json:"user_id,omitempty" doc:"whose event it is; absent if nobody's"`
}

// EventsLost is sent to a reader that was away for longer than events are kept, in
// the place of those that it missed.
type EventsLost struct {
	// From and To are the first and the last sequence of what is missing, both
	// inclusive. From is 0 where the reader's place is none of this data directory.
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// StoreFailed is sent when the store first finds that it cannot write any more, or that its
// database is damaged: see [RepairError].
type StoreFailed struct {
	Kind    string `json:"kind"`
	Problem string `json:"problem"`
}

// ContextResolving is sent before providers are asked. It is not sent when there are none.
type ContextResolving struct {
	Providers []string `json:"providers"`
}

// ContextResolved is sent when all providers have answered or failed, also with zeros.
type ContextResolved struct {
	TotalItems  int `json:"total_items"`
	TotalTokens int `json:"total_tokens"`
}

// ContextWarning says that a conversation's usage reached its threshold. That of a buffer says
// so when its summary failed; one about a long turn that a model failed to note has warnings
// and no figures.
type ContextWarning struct {
	SessionID  string  `json:"session_id"`
	UsedTokens int     `json:"used_tokens"`
	MaxTokens  int     `json:"max_tokens"`
	Percent    float64 `json:"percent"`
	Threshold  float64 `json:"threshold"`
	// Warnings name the ways of summarising that failed, and why; the reason may be in the
	// words of the model's service.
	Warnings []string `json:"warnings,omitempty"`
}

// ContextCompacting is sent when a compaction starts.
type ContextCompacting struct {
	ContextWarning
	MessageCount int `json:"message_count"`
}

// ContextCompacted is sent when a compaction changed the view of a conversation.
type ContextCompacted struct {
	SessionID      string  `json:"session_id"`
	BeforeMessages int     `json:"before_messages"`
	AfterMessages  int     `json:"after_messages"`
	PercentBefore  float64 `json:"percent_before"`
	PercentAfter   float64 `json:"percent_after"`
	TokensSaved    int     `json:"tokens_saved"`
	Summary        string  `json:"summary,omitempty"`
	Reason         string  `json:"reason"`
	Strategy       string  `json:"strategy"`
	// Warnings say which ways of summarising failed before, and why.
	Warnings []string `json:"warnings,omitempty"`
}

// MemoryStored is sent when a memory is persisted.
type MemoryStored struct {
	MemoryID   string   `json:"memory_id"`
	MemoryType string   `json:"memory_type"`
	Importance float64  `json:"importance"`
	Tags       []string `json:"tags"`
}

// MemoryRecalled is sent once per memory that an answer uses.
type MemoryRecalled struct {
	MemoryID  string  `json:"memory_id"`
	Content   string  `json:"content"`
	Relevance float64 `json:"relevance"`
}

// MemoriesSearched is sent once per search that found something.
type MemoriesSearched struct {
	Query       string   `json:"query,omitempty"`
	Tags        []string `json:"tags"`
	ResultCount int      `json:"result_count"`
}

// MemoryCleared is sent when a tier (long_term, short_term, working) is emptied.
type MemoryCleared struct {
	Tier  string `json:"tier"`
	Count int    `json:"count"`
}

// PersistenceFailed is sent when a save failed and the operation went on in memory.
type PersistenceFailed struct {
	SessionID string `json:"session_id"`
	Operation string `json:"operation"`
	Error     string `json:"error"`
}

// MessagesMovedToBuffer is sent when a summarisation policy moves messages out
// of the main section.
type MessagesMovedToBuffer struct {
	Overflow []Message `json:"overflow"`
	Keep     []Message `json:"keep"`
}

// MessageBufferSummarized is sent when the buffer section was summarised.
type MessageBufferSummarized struct {
	Summary string    `json:"summary"`
	Buffer  []Message `json:"buffer"`
}
