package store

import (
	"time"

	"github.com/ragctx/ragctx"
)

// ProcedureKey identifies a procedure. Two owners may have procedures of the same name.
type ProcedureKey struct {
	Namespace int64
	Name      string
	ragctx.ProcedureOwner
}

// MaxProcedureVersions limits the published versions of a procedure.
const MaxProcedureVersions = 1000

// ExtractedProcedure is a procedure extracted from a turn.
type ExtractedProcedure struct {
	Key  ProcedureKey
	Body ragctx.ProcedureBody
	By   string // [ragctx.ByTurn] or [ragctx.ByModel]
	Run  ragctx.ProcedureRun
	// Existing means that a stored procedure does the same, and the turn is another run of it.
	// Otherwise the procedure is new.
	Existing bool
}

// ProcedureFilter selects procedures. The zero value selects the shared ones.
type ProcedureFilter struct {
	ragctx.ProcedureOwner // compared as in [ragctx.ProcedureOwner.SeenBy]

	// AnyUser selects the procedures of all users.
	AnyUser bool
	// State selects procedures with a draft (draft) or with a canonical version (published); ""
	// selects all.
	State ragctx.ProcedureState
	// After is the last entry of the previous page.
	After ragctx.ProcedureEntry
	Limit int // 0 is all
}

// PublishedTrigger is the trigger of a canonical version.
type PublishedTrigger struct {
	ragctx.ProcedureOwner

	Name      string
	Version   int
	Trigger   string
	Published time.Time
}
