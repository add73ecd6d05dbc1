// Package view answers what a model is to be shown of stored conversations: it
// loads a session, compiles it, takes it through the stages of a pipeline, and keeps what
// these want to last, as records beside messages that stay as they were said.
//
// A session has one layer of compression ([stage.Layer]). Compactions and what stages
// persist are records of the session's storage, newest last, and each can be undone.
// Observations are notes of their own. The buffer policy alone moves messages: what it has
// summarised stays in [SectionSummarized], beside the branch that is shown.
//
// Sessions that were looked at stay in memory, as long as their version in the storage is
// the same, so that the next call costs what has changed.
package view
