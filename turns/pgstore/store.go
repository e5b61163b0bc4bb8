package pgstore

import (
	"context"
	"encoding/json"
	"fmt"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Store works with. DB and Sessions are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	// Tools says what of an agent's tools is asked along with a turn's beginning; nil: nothing.
	Tools *tools.Service
	// Retriever says what a search for passages reads along with a turn's beginning; nil: nothing.
	Retriever turns.Retriever
	// Prices are those of models; nil: no costs are counted.
	Prices *usage.Prices
	// HasKeys asks along whether the workspace has model keys of its own; nil: nobody asks.
	HasKeys func(ref workspaces.Ref, has *bool) postgres.Step
}

// Store implements turns.Store. Safe for concurrent use.
type Store struct {
	db        *postgres.DB
	sessions  *sessions.Service
	tools     *tools.Service
	retriever turns.Retriever
	hasKeys   func(ref workspaces.Ref, has *bool) postgres.Step
	prices    *usage.Prices
}

var _ turns.Store = (*Store)(nil)

// New makes the store.
func New(d Deps) *Store {
	return &Store{db: d.DB, sessions: d.Sessions, tools: d.Tools, retriever: d.Retriever, hasKeys: d.HasKeys, prices: d.Prices}
}

// Save implements turns.Store.
func (s *Store) Save(ctx context.Context, p turns.SaveParams) (mine bool, err error) {
	return sessions.UpdateTurn(ctx, s.db, p.Turn, "messages")
}

// lock takes the session's row until the transaction ends. What the earlier holders of the lock
// have stored is visible to the steps behind it.
func lock(session sessions.Session) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT FROM sessions AS s WHERE s.tenant_id = $1 AND s.id = $2 FOR UPDATE",
		Args: []any{string(session.TenantID), string(session.ID)},
	}
}

// lockWithoutFlush is lock in a transaction that does not wait for the disk. Use it where nobody
// was promised anything: after a crash of Postgres the transaction may never have happened.
func lockWithoutFlush(session sessions.Session) postgres.Step {
	return postgres.Step{
		SQL:  "SELECT set_config('synchronous_commit', 'off', true) FROM sessions AS s WHERE s.tenant_id = $1 AND s.id = $2 FOR UPDATE",
		Args: []any{string(session.TenantID), string(session.ID)},
	}
}

// jsonText encodes a value for a column of JSON.
func jsonText(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding a column of JSON: %w", err)
	}
	return escapeNul(text), nil
}

// escapeNul writes the character U+0000, which Postgres does not take, as the six characters
// \u0000.
func escapeNul(text []byte) []byte {
	const escaped = `u0000`
	var out []byte
	copied := 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i+1+len(escaped) <= len(text) && string(text[i+1:i+1+len(escaped)]) == escaped {
			out = append(append(out, text[copied:i]...), '\\')
			copied = i
		}
		i++ // the character behind a backslash is no beginning of an escape
	}
	if out == nil {
		return text
	}
	return append(out, text[copied:]...)
}

// column is JSON that a statement returned, and where it belongs.
type column struct {
	text []byte
	into any
}

func decodeJSON(columns ...column) error {
	for _, c := range columns {
		if len(c.text) == 0 {
			continue
		}
		if err := json.Unmarshal(c.text, c.into); err != nil {
			return fmt.Errorf("decoding a column of JSON: %w", err)
		}
	}
	return nil
}
