// Package hnsw finds the vectors nearest to a query in a graph (Malkov and Yashunin, "Efficient and
// robust approximate nearest neighbor search using Hierarchical Navigable Small World graphs",
// arXiv 1603.09320). It scans instead where a scan is cheaper or the result has to be exact.
//
// A [Graph] stores ids and codes: one byte per component of a vector and one scale per vector. It
// stores no floats, so its scores approximate the cosine within a known error ([Info]). The caller
// rescores the best results with its own floats.
//
// Only one goroutine at a time may change the contents ([Graph.Put], [Graph.Delete]). Searches take
// no lock and run concurrently. A new vector is found at once, by a scan, until [Graph.Link] has
// linked it into the graph. Linking is the slow part and runs concurrently with everything else.
// Searches skip a deleted vector until [Graph.Tidy] removes it from the graph and frees its slot.
//
// [Graph.Write] writes a graph to a file. [Read] maps the file and continues from it.
//
// layout.go describes the memory layout, file.go the file format. Every node is reachable from
// every other one by construction: see tree.go.
package hnsw
