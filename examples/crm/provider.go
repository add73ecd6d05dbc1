package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/ragctx/ragctx"
)

// Account is what the CRM has about a customer.
type Account struct {
	ID      string `json:"id"`
	User    string `json:"user"` // who it belongs to
	Company string `json:"company"`
	Plan    string `json:"plan"`
	Owes    string `json:"owes,omitempty"`
	Contact string `json:"contact,omitempty"`
}

// CRM finds accounts. It returns nil for a user who has none.
type CRM interface {
	AccountForUser(ctx context.Context, user string) (*Account, error)
}

// Snapshot shows the model the account of the user who asks, whatever the question is.
type Snapshot struct{ crm CRM }

// Name implements [ragctx.ContextProvider].
func (Snapshot) Name() string { return "crm_snapshot" }

// Query implements [ragctx.ContextProvider]. A CRM that fails costs the answer its
// snapshot and nothing else, unless the operator has the provider fail closed.
func (s Snapshot) Query(ctx context.Context, q ragctx.ContextQuery) (r ragctx.ContextResult, err error) {
	if q.UserID == "" || !q.Wants(ragctx.TypeResource) {
		r.Note = "the question is nobody's"
		return r, nil
	}
	account, err := s.crm.AccountForUser(ctx, q.UserID)
	if err != nil {
		return r, fmt.Errorf("crm snapshot: %w", err)
	}
	if account == nil {
		r.Note = "the user has no account"
		return r, nil
	}
	snapshot, err := json.Marshal(account)
	if err != nil {
		return r, fmt.Errorf("crm snapshot: %w", err)
	}
	r.Add(ragctx.ContextItem{
		ID: account.ID, Type: ragctx.TypeResource, Relevance: 1, Source: "crm:" + account.ID,
		Content:  "Current CRM account context:\n" + string(snapshot),
		Metadata: map[string]any{"company": account.Company},
	})
	return r, nil
}

// fileCRM stands for a real one: a JSON list of accounts, read anew for each question.
type fileCRM string

// AccountForUser implements [CRM].
func (f fileCRM) AccountForUser(_ context.Context, user string) (*Account, error) {
	b, err := os.ReadFile(string(f))
	if err != nil {
		return nil, err
	}
	var all []Account
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	for _, a := range all {
		if a.User == user {
			return &a, nil
		}
	}
	return nil, nil
}
