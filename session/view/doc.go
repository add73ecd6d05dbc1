// Package view computes the messages of stored sessions for a model. It loads a session, compiles
// it, runs the stages of a pipeline, and stores their lasting results as records, without changing
// the messages.
//
// A session has one layer of compression ([stage.Layer]). Compactions and persisted results of
// stages are records of the session's storage, newest last, and each can be undone. Observations
// are separate notes. Only the buffer policy moves messages: the summarized messages stay in
// [SectionSummarized], outside the shown branch.
//
// Recently used sessions are cached as long as their version in the storage is unchanged, so that
// the next call costs only the changes.
package view
