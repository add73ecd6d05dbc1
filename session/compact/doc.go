// Package compact shortens long conversations. It first prunes old tool outputs. If that is not
// enough, it replaces the messages between the beginning of a conversation and its newest messages
// by one summary, written by a language model, or by extraction if there is no model or the model
// fails.
//
// Messages are never removed: a compaction is a [Record] over a range of messages, and [Apply]
// returns the view that records describe. Removing the newest record undoes a compaction.
//
// # What stays
//
// The leading system messages, the newest instruction of a user and pending tool calls stay at any
// cost, and no call is separated from its result. There is one summary at a time: the next
// compaction merges it. It is placed before the newest instruction, so that it cannot be mistaken
// for one.
//
// # Trust
//
// The summarized messages are untrusted. A model sees them as data without secrets, and its summary
// is accepted only with the required layout. Lines that give a model orders are removed unless the
// user wrote them. Every result is checked ([Verify]) before it is returned. A result that is not
// smaller, not valid, or lacks a required message is discarded; the next strategy is tried, and
// finally the conversation stays unchanged.
package compact
