// Ragctx is the context engine an agent talks to before and after every model
// call: it ingests documents, remembers conversations, and answers what a model
// should see for a query within a token budget.
//
//	ragctx query --docs ./docs "how do I roll back a release?"
//	ragctx serve --docs ./docs
//
// Each command has its own file. The settings that several commands share come
// from flags, the environment, a file and defaults, in this order (settings.go).
// A data directory belongs to one process at a time; when a server holds it,
// every command finds the server through the lock file and talks to it. Without a
// server a command opens the data directory and calls the same API of an engine
// in this process (client.go).
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 on success, 1 on failure, 2 when the command line was wrong and
// 130 when the user interrupted the command.
package main
