// Package eval measures the relevance of search results. It ingests collections with human
// judgements as a user's data, asks every question and scores the results. Every change of the
// ranking is judged by it.
//
// A collection ("set") is a directory in the layout of BEIR:
//
//	corpus.jsonl   {"_id", "title", "text", "metadata"} per line
//	queries.jsonl  {"_id", "text", "metadata"} per line
//	qrels.tsv      query-id, corpus-id, score
//	groups.tsv     query-id, category; optional
//
// [Run] ingests a set into a data directory of its own, which later runs reuse, and writes the
// results of each question to a run file. The measures are computed from the run files and equal
// those of trec_eval. Equal data and an equal program give equal run files, byte for byte.
// [Compare] shows which differences between two runs exceed chance.
package eval
