package ragctx

import "time"

// EventType names what happened.
type EventType string

// The event types. The comment names the type of Data.
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

// Event is the envelope of every published event. Seq strictly increases within a data directory,
// across restarts too, and has gaps.
type Event struct {
	Seq       uint64    `json:"sequence" doc:"increases with every event of the data directory, across restarts; it has gaps"`
	ID        string    `json:"id" doc:"unique"`
	Type      EventType `json:"type" doc:"kind of the event; it determines the shape of data"`
	Time      time.Time `json:"time"`
	Namespace string    `json:"namespace,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	RequestID string    `json:"request_id,omitempty" doc:"id of the request that caused it, as in the header X-Request-ID"`
	Data      any       `json:"data,omitempty" doc:"depends on type"`

	// UserID is the user that the event belongs to. It decides which readers get the event.
	UserID string `json:"user_id,omitempty" doc:"the user that the event belongs to; absent if it belongs to no user"`
}

// EventsLost replaces the events that a reader missed because they are no longer kept.
type EventsLost struct {
	// From and To are the first and the last missing sequence number, both inclusive. From is 0 if
	// the reader's position is not from this data directory.
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// StoreFailed is sent when the store first finds that it cannot write or that its database is
// damaged. See [RepairError].
type StoreFailed struct {
	Kind    string `json:"kind"`
	Problem string `json:"problem"`
}

// ContextResolving is sent before the providers are queried. It is not sent when there are no
// providers.
type ContextResolving struct {
	Providers []string `json:"providers"`
}

// ContextResolved is sent when every provider has answered or failed, even if there are no items.
type ContextResolved struct {
	TotalItems  int `json:"total_items"`
	TotalTokens int `json:"total_tokens"`
}

// ContextWarning says that a conversation reached its usage threshold. For a buffer, it says that
// summarizing failed. When a model failed to take notes on a long turn, only Warnings is set.
type ContextWarning struct {
	SessionID  string  `json:"session_id"`
	UsedTokens int     `json:"used_tokens"`
	MaxTokens  int     `json:"max_tokens"`
	Percent    float64 `json:"percent"`
	Threshold  float64 `json:"threshold"`
	// Warnings name the summarizing methods that failed, with reasons. A reason may quote the
	// model's service.
	Warnings []string `json:"warnings,omitempty"`
}

// ContextCompacting is sent when a compaction starts.
type ContextCompacting struct {
	ContextWarning
	MessageCount int `json:"message_count"`
}

// ContextCompacted is sent when a compaction has changed the view of a conversation.
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
	// Warnings name the summarizing methods that failed before, with reasons.
	Warnings []string `json:"warnings,omitempty"`
}

// MemoryStored is sent when a memory is persisted.
type MemoryStored struct {
	MemoryID   string   `json:"memory_id"`
	MemoryType string   `json:"memory_type"`
	Importance float64  `json:"importance"`
	Tags       []string `json:"tags"`
}

// MemoryRecalled is sent once for each memory in an answer.
type MemoryRecalled struct {
	MemoryID  string  `json:"memory_id"`
	Content   string  `json:"content"`
	Relevance float64 `json:"relevance"`
}

// MemoriesSearched is sent once for each search with results.
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

// PersistenceFailed is sent when a save failed and the operation continued in memory.
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

// MessageBufferSummarized is sent after the buffer section was summarized.
type MessageBufferSummarized struct {
	Summary string    `json:"summary"`
	Buffer  []Message `json:"buffer"`
}
