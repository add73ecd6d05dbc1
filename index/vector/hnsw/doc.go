// Package hnsw finds the vectors nearest to a query in a graph (Malkov and
// Yashunin, "Efficient and robust approximate nearest neighbor search using
// Hierarchical Navigable Small World graphs", arXiv 1603.09320), or by a scan
// where that is cheaper or has to be exact.
//
// A [Graph] knows ids and codes: each component of a vector in one byte, with one
// scale per vector. It keeps no floats, so its scores are near the cosine, by an
// error that it knows ([Info]); the caller compares the best with its own floats.
//
// One goroutine at a time changes what is there ([Graph.Put], [Graph.Delete]).
// Searches take no lock and may be as many as there are cores. What was put is
// found at once, by a scan, until [Graph.Link] has given it its place in the
// graph; that is the slow part, and runs beside everything else. What was deleted
// is passed over, until [Graph.Tidy] takes it out of the graph and frees its slot.
//
// [Graph.Write] writes a graph to a file, which [Read] maps and goes on with.
//
// Where things are is in layout.go, and what a file has in file.go. Every node can
// be reached from every other one, by construction: see tree.go.
package hnsw
