package ledger_test

import (
	"testing"

	"github.com/ragctx/ragctx/ledger"
	"github.com/ragctx/ragctx/ledger/ledgertest"
)

func TestMemory(t *testing.T) {
	ledgertest.Test(t, func(_ testing.TB, _ string, o ledger.Options) ledgertest.Log { return ledger.NewMemory(o) }, ledgertest.Options{Volatile: true})
}
