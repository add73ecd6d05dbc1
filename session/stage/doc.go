// Package stage makes what a model is shown out of a conversation, stage by stage.
//
// A [Stage] takes the list of messages that the stage before it left and returns another
// one. Stages run in the order of their priority, in every iteration of an agent's loop
// and once more before its final answer, so a stage must not add twice what it adds; what
// is added twice word for word is taken out again. A stage that fails is left out, and the
// others go on with what was there before it; one that is a [ragctx.FailurePolicy] and fails
// closed, as a stage that redacts has to, ends the run instead.
//
// What [Pipeline.Run] returns is a view. What shall be there in the next run as well a
// stage puts into the state ([State.Persist]).
//
// The stages of this package are those of observations (10), compaction (20) and
// truncation (30). A session has one layer of compression: where there are observations
// nothing is compacted, and where something was compacted nothing is observed.
package stage
