package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Get returns a session of the caller's tenant. Errors: NotFound, Unauthenticated
// session-token-invalid when the caller has the token of another session.
func (s *Service) Get(ctx context.Context, p workspaces.Principal, id ID) (Session, error) {
	if p.SessionID != "" && p.SessionID != string(id) {
		return Session{}, errToken(errors.New("the token belongs to another session"))
	}
	if !idgen.Valid(idgen.Session, string(id)) {
		return Session{}, fault.NoSuch("session", string(id))
	}
	session, err := Find(ctx, s.db, p.TenantID, id, "")
	if err != nil {
		return Session{}, err
	}
	if !p.MayTouch(session.Ref()) {
		return Session{}, fault.NoSuch("session", string(id))
	}
	AddToLog(ctx, session)
	return session, nil
}

// ListParams filters a list of sessions; empty fields match all.
type ListParams struct {
	Page        postgres.PageParams
	WorkspaceID workspaces.ID
	AgentID     agents.ID
	UserID      string
	Status      Status
	Modality    Modality
	EndReason   string
	// Handover, unless it is NoHandover, selects open sessions with that status.
	Handover HandoverStatus
	// CreatedAfter is inclusive, CreatedBefore exclusive; zero matches any time.
	CreatedAfter  time.Time
	CreatedBefore time.Time
}

// List returns the sessions the caller may see, newest first. For another tenant's workspace the
// list is empty. Errors: Invalid invalid-request (page_size, page_token).
func (s *Service) List(ctx context.Context, p workspaces.Principal, params ListParams) ([]Session, string, error) {
	params.Page.Order = postgres.NewestFirst
	params.Page.Filters = []string{
		string(p.TenantID), string(p.WorkspaceID), string(params.WorkspaceID), string(params.AgentID), params.UserID, string(params.Status),
		string(params.Modality), params.EndReason, string(params.Handover),
		postgres.TimeFilter(params.CreatedAfter), postgres.TimeFilter(params.CreatedBefore),
	}
	page, err := postgres.NewPage(params.Page)
	if err != nil {
		return nil, "", err
	}
	sessions, err := selectSessions(ctx, s.db, p, params, page)
	if err != nil {
		return nil, "", fmt.Errorf("listing sessions: %w", err)
	}
	sessions, next := postgres.Cut(page, sessions, func(one Session) postgres.Key {
		return postgres.Key{CreatedAt: one.CreatedAt, ID: string(one.ID)}
	})
	return sessions, next, nil
}

// Transcript returns a session's turns in order. Errors: NotFound, Invalid invalid-request.
func (s *Service) Transcript(ctx context.Context, p workspaces.Principal, id ID, params postgres.PageParams) ([]Turn, string, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return nil, "", err
	}
	params.Order = postgres.OldestFirst
	params.Filters = []string{string(session.TenantID), string(id)}
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	turns, err := selectTurnPage(ctx, s.db, session, page)
	if err != nil {
		return nil, "", err
	}
	turns, next := postgres.Cut(page, turns, turnKey)
	setItems(turns, session.ItemEdits)
	return turns, next, nil
}

// turnKey returns the place of a turn in its transcript. Turns are ordered by index, for which
// postgres.Key has no field, so the index is stored as a time of that many microseconds.
func turnKey(t Turn) postgres.Key {
	return postgres.Key{CreatedAt: time.UnixMicro(int64(t.Index)).UTC(), ID: string(t.ID)}
}

// Receipt returns the receipt of a turn and its hash. Errors: NotFound not-found for the session,
// the turn or the receipt. Turns in progress and turns from before version 0.3.0 have no receipt.
func (s *Service) Receipt(ctx context.Context, p workspaces.Principal, id ID, turn TurnID) (Receipt, string, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return Receipt{}, "", err
	}
	if !idgen.Valid(idgen.Turn, string(turn)) {
		return Receipt{}, "", fault.NoSuch("turn", string(turn))
	}
	var row struct {
		Receipt []byte `bun:"receipt"`
		Hash    string `bun:"receipt_hash"`
	}
	err = s.db.NewSelect().Model((*Turn)(nil)).Column("receipt_hash").ColumnExpr("t.receipt").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", turn).Scan(ctx, &row)
	if postgres.NoRows(err) {
		return Receipt{}, "", fault.NoSuch("turn", string(turn))
	}
	if err != nil {
		return Receipt{}, "", fmt.Errorf("reading receipt: %w", err)
	}
	if row.Hash == "" {
		return Receipt{}, "", fault.New(fault.ResourceNotFound,
			"The turn %s has no receipt yet: it gets one when it is over. Turns of before version 0.3.0 have none.", turn)
	}
	var receipt Receipt
	if err := json.Unmarshal(row.Receipt, &receipt); err != nil {
		return Receipt{}, "", fmt.Errorf("decoding receipt: %w", err)
	}
	return receipt, row.Hash, nil
}
