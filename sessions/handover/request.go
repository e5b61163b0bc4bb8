package handover

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Request asks for a person.
type Request struct {
	// Reason and Summary are for the person; see sessions.Handover.
	Reason  string `json:"reason,omitempty"`
	Summary string `json:"summary,omitempty"`
	// Destination is the name of one of the agent's destinations; empty: there is none.
	Destination string `json:"destination,omitempty"`
}

// Stored returns the request in the form in which the session stores content.
func (r Request) Stored(ctx context.Context, service *sessions.Service, session sessions.Session) (Request, error) {
	for _, text := range []*string{&r.Reason, &r.Summary} {
		if *text = session.ContentRedactor().Text(*text); *text == "" || !session.KeepsNothing() {
			continue
		}
		sealed, err := service.StoredText(ctx, session, *text)
		if err != nil {
			return Request{}, err
		}
		*text = sealed
	}
	return r, nil
}

// open puts what is sealed in the session's handover in its place.
func open(ctx context.Context, service *sessions.Service, session *sessions.Session) error {
	if !session.KeepsNothing() {
		return nil
	}
	for _, text := range []*string{&session.Handover.Reason, &session.Handover.Summary} {
		plain, err := service.OpenText(ctx, *session, *text)
		if err != nil {
			return err
		}
		*text = plain
	}
	return nil
}

// Asking is a request that a turn has made.
type Asking struct {
	Request

	Session sessions.Session
	Turn    sessions.Turn
	// Recorded has the request made only if the turn was recorded with its EndedAt in the same
	// transaction.
	Recorded bool
	At       time.Time
}

// requestSQL asks for a person unless a request is open or a person has the session, appends the
// event and notifies the nodes.
const requestSQL = `
	WITH asked AS (
	    UPDATE sessions AS s
	    SET handover_status = 'requested', handover_reason = ?reason, handover_summary = ?summary, handover_destination = ?destination,
	        handover_requested_at = ?at::timestamptz
	    WHERE s.tenant_id = ?tenant AND s.id = ?session AND s.handover_status = '' AND s.ended_at IS NULL
	      AND (NOT ?recorded OR EXISTS (
	          SELECT FROM turns AS t
	          WHERE t.tenant_id = ?tenant AND t.session_id = ?session AND t.id = ?turn AND t.ended_at = ?ended::timestamptz
	      ))
	    RETURNING s.id
	), appended AS (?event)
	SELECT pg_notify(?channel, ?notice) FROM asked`

// Query returns the statement that makes the request. The session's row must be locked in its
// transaction. Running it again changes nothing.
func (a Asking) Query(ctx context.Context, db bun.IDB) (bun.Query, error) {
	seed := idgen.Seed{At: a.Turn.StartedAt, Secret: []byte(a.Turn.ID + " handed over")}
	event, err := events.AppendFrom(ctx, db, events.Event{
		ID:       idgen.In(idgen.WithSeed(ctx, seed), idgen.Event),
		TenantID: string(a.Session.TenantID), WorkspaceID: string(a.Session.WorkspaceID),
		Type: events.HandoverRequested, Subject: string(a.Session.ID), CreatedAt: a.At,
	}, "asked")
	if err != nil {
		return nil, err
	}
	notice, err := json.Marshal(sessions.Notice{Kind: sessions.NoticeHandover, Session: a.Session.ID})
	if err != nil {
		return nil, fmt.Errorf("encoding notice: %w", err)
	}
	return db.NewRaw(requestSQL, requestArgs{
		Reason: a.Reason, Summary: a.Summary, Destination: a.Destination, At: a.At,
		Tenant: a.Session.TenantID, Session: a.Session.ID, Turn: a.Turn.ID, Ended: a.Turn.EndedAt, Recorded: a.Recorded,
		Event: event, Channel: sessions.NotifyChannel, Notice: string(notice),
	}), nil
}

// requestArgs are the parameters of requestSQL.
type requestArgs struct {
	Reason, Summary, Destination string
	At, Ended                    time.Time
	Tenant                       workspaces.TenantID
	Session                      sessions.ID
	Turn                         sessions.TurnID
	Recorded                     bool
	Event                        bun.Query
	Channel, Notice              string
}
