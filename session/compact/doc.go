// Package compact makes long conversations shorter. Old outputs of tools are pruned
// first; if that is not enough, what is between the beginning of a conversation and its
// newest messages becomes one summary, by a language model where there is one and by
// extraction where there is none, or where the model fails.
//
// Nothing is ever removed: a compaction is a [Record] over a range of messages, and
// [Apply] makes the view that it describes. Without its newest record a conversation is
// as before, so undoing needs nothing else.
//
// # What stays
//
// The system messages that a conversation begins with, its newest instruction of a user
// and its tool calls without a result stay whatever they cost; no call is separated from
// its result. There is one summary at a time: the next compaction merges it. It stands
// before the newest instruction, or it would pass for one.
//
// # What is believed
//
// What is summarised was written by anybody. A model sees it as data, without secrets,
// and its summary is taken only if it has the agreed layout; lines that give a model
// orders are left out unless the user said so. Every result is checked ([Verify]) before
// it is returned; one that is not smaller, not valid, or without what must stay gives way
// to the next way of summarising, and at last to the conversation as it was.
package compact
