// Package eval measures how well the engine finds things: it puts collections
// with human judgements through the engine as a user's data would go, asks every
// question, and scores what comes back. All work on ranking is judged by it.
//
// A collection ("set") is a directory in the layout of BEIR:
//
//	corpus.jsonl   {"_id", "title", "text", "metadata"} per line
//	queries.jsonl  {"_id", "text", "metadata"} per line
//	qrels.tsv      query-id, corpus-id, score
//	groups.tsv     query-id, category; optional
//
// [Run] ingests a set into a data directory of its own, which later runs reuse,
// and writes what was found for each question as a run file. Measures are taken
// from exactly what the run files hold, and equal those of trec_eval. Equal data
// and an equal program give equal run files, byte for byte. [Compare] tells which
// differences between two runs are more than chance.
package eval
