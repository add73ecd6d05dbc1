// Package storetest is the conformance suite of [store.Store]. Every implementation runs it.
//
// The ledger and the conversations of a store have suites of their own: packages ledgertest and sessiontest. No suite covers
// the list of sessions, notes, and the erasure of sessions and of the ledger; package sqlite tests them.
package storetest

import (
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

// Options are the options of a store that the suite sets.
type Options struct {
	Now func() time.Time
	// KeepVersions is the number of versions kept of a document; 0 is [store.DefaultKeepVersions],
	// negative keeps all.
	KeepVersions int
}

// Opener opens the store in dir, which is empty at first. The suite closes it, and may open it again.
type Opener func(t testing.TB, dir string, o Options) store.Store

// Test checks that the stores returned by open satisfy the contracts of package store.
func Test(t *testing.T, open Opener) {
	type test struct {
		name string
		run  func(*testing.T, Opener)
	}
	for _, domain := range []struct {
		name  string
		tests []test
	}{
		{"Documents", []test{
			{"Versions", testDocumentVersions},
			{"Roots", testRoots},
			{"List", testListDocuments},
			{"RecordFiles", testRecordFiles},
			{"Pages", testPages},
			{"KeepVersions", testKeepVersions},
			{"FewerVersions", testFewerVersions},
			{"Drop", testDropDocument},
			{"Conditions", testConditions},
			{"Sketches", testSketches},
			{"Canceled", testCanceledWrite},
			{"Long", testLongDocument},
			{"Model", testDocumentModel},
		}},
		{"Texts", []test{
			{"Texts", testTexts},
			{"Ranges", testTextRanges},
			{"Chunks", testChunks},
			{"ManyChunks", testManyChunks},
			{"ChunksOfOthers", testChunksOfOthers},
			{"ChunksOfOneItem", testChunksOfOneItem},
		}},
		{"Memories", []test{
			{"Memories", testMemories},
			{"Replace", testReplaceMemory},
			{"SameTwice", testSameMemoryTwice},
			{"States", testMemoryStates},
			{"Filter", testListMemoriesFilter},
			{"Metadata", testMetadataFilter},
			{"Numbers", testNumbers},
			{"Pages", testMemoryPages},
			{"Tags", testMemoryTags},
			{"Uses", testUses},
			{"WorkingTier", testWorkingTier},
			{"Prune", testPrunePolicy},
		}},
		{"Curation", []test{
			{"History", testMemoryHistory},
			{"Undo", testUndo},
			{"UndoTurn", testUndoTurn},
			{"UndoSecondLife", testUndoSecondLife},
			{"UndoEverything", testUndoEverything},
			{"PutInQuarantine", testPutInQuarantine},
			{"QuarantineOfFacts", testQuarantineOfFacts},
			{"Discarded", testDiscardedFacts},
			{"DeleteDiscards", testDeleteDiscards},
		}},
		{"Facts", []test{
			{"Store", testStoreFacts},
			{"NamedMemories", testNamedMemories},
			{"Deleted", testDeletedFacts},
			{"DryRun", testDryRun},
			{"Turns", testFactsOfTurns},
		}},
		{"Owners", []test{
			{"IDs", testIDsBelongToOneUser},
			{"WriteAgain", testOwnersWriteAgain},
			{"PredictableIDs", testPredictableIDs},
			{"Shared", testShared},
		}},
		{"Turns", []test{
			{"Put", testTurns},
			{"Concurrent", testConcurrentTurns},
			{"Pending", testPendingTurns},
			{"Redelivery", testRedeliveryDuringDelivery},
		}},
		{"Procedures", []test{
			{"Life", testProcedureLife},
			{"DraftDeleted", testProcedureDraftDeleted},
			{"Read", testReadProcedures},
			{"SkillsAsOf", testSkillsAsOf},
			{"Store", testStoreProcedure},
			{"UnreviewedDrafts", testUnreviewedDrafts},
			{"EraseSources", testEraseProcedures},
			{"Erase", testEraseProcedure},
			{"Model", testProcedureModel},
		}},
		{"Jobs", []test{
			{"Jobs", testJobs},
			{"Order", testJobOrder},
			{"Totals", testJobTotals},
			{"Active", testActiveJobs},
		}},
		{"Requests", []test{
			{"Keys", testRequestKeys},
			{"Erased", testErasingDeletesResponses},
		}},
		{"Access", []test{
			{"Keys", testKeys},
			{"Audit", testAudit},
		}},
		{"Namespaces", []test{
			{"Namespaces", testNamespaces},
			{"Counts", testNamespaceCounts},
			{"Quotas", testQuotas},
			{"Erase", testEraseNamespace},
		}},
		{"SessionProviders", []test{
			{"Assign", testSessionProviders},
		}},
		{"Changes", []test{
			{"Follow", testFollow},
			{"FollowConcurrently", testFollowConcurrently},
			{"RepeatedWrite", testRepeatedWrite},
			{"Speakers", testSpeakers},
			{"Commits", testCommits},
			{"Tokens", testTokens},
			{"NextExpiry", testNextExpiry},
		}},
		{"Vectors", []test{
			{"Vectors", testVectors},
			{"Next", testNextVectors},
			{"Embedders", testEmbedders},
			{"Change", testChangeEmbedder},
			{"MarkEmbedded", testMarkEmbedded},
		}},
		{"Clusters", []test{
			{"Clusters", testClusters},
		}},
		{"Erasures", []test{
			{"Scopes", testEraseScopes},
			{"WithTheTurn", testErasedWithTheTurn},
			{"OutlivesCaller", testErasureOutlivesCaller},
			{"Secure", testSecureErase},
		}},
		{"Health", []test{
			{"Reopen", testReopen},
			{"Verify", testHealth},
			{"Settings", testSettings},
			{"Snapshot", testSnapshot},
		}},
	} {
		t.Run(domain.name, func(t *testing.T) {
			for _, c := range domain.tests {
				t.Run(c.name, func(t *testing.T) { c.run(t, open) })
			}
		})
	}
}
