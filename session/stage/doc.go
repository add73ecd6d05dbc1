// Package stage turns a conversation into the messages for a model, stage by stage.
//
// A [Stage] receives the messages that the preceding stage returned and returns another list.
// Stages run in the order of their priority, in every iteration of an agent's loop and before its
// final answer. A stage must therefore be idempotent; text that is added twice verbatim is removed.
// A failed stage is skipped, and the others continue with the messages before it. If the stage is a
// [ragctx.FailurePolicy] that fails closed, as a redacting stage must be, the run ends instead.
//
// [Pipeline.Run] returns a view. A stage that changes the input of later runs stores it in the
// state ([State.Persist]).
//
// The stages of this package are observation (10), compaction (20) and truncation (30). A session
// has one layer of compression: a conversation with observations is not compacted, and a compacted
// one gets no observations.
package stage
