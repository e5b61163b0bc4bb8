package events

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/platform/telemetry"
)

// Channel is the Postgres channel that is notified when events are committed.
const Channel = "parlance_events"

// The payload of the notification says which relay has something to do. Any other one is for both.
const (
	PublicAppended   = "public"
	InternalAppended = "internal"
)

// Event is something that happened. TenantID, WorkspaceID, Type and CreatedAt are required,
// but for events of a whole tenant (Type.TenantWide), whose WorkspaceID is empty.
type Event struct {
	// ID is evt_…; empty: Append makes one.
	ID          string
	TenantID    string
	WorkspaceID string
	Type        Type
	// Subject is the id that an internal event's task works on, e.g. of a source; for
	// webhook.disabled the endpoint, which does not get the event.
	Subject string
	// Payload is the message of a public event (see events.proto); nil for internal events.
	Payload proto.Message
	// Sealed is the body that endpoints get instead of Payload's, sealed with [SealedBinding]; nil:
	// they get Payload's.
	Sealed []byte
	// CreatedAt is taken before the transaction, in UTC.
	CreatedAt time.Time
	// Test marks an example that an operator asked for; it is not appended.
	Test bool
}

// Row is a row of the outbox.
type Row struct {
	bun.BaseModel `bun:"table:events,alias:e"`

	Seq         int64  `bun:"seq,pk,autoincrement"`
	TenantID    string `bun:"tenant_id"`
	EventID     string `bun:"event_id"`
	WorkspaceID string `bun:"workspace_id"`
	Type        Type   `bun:"type"`
	Subject     string `bun:"subject"`
	// AgentID is the agent that a public event is about; empty: none, or a row of an older version.
	AgentID string `bun:"agent_id"`
	// SessionID and UserID are whom a public event is about; empty: nobody, or a row of an older
	// version.
	SessionID string    `bun:"session_id"`
	UserID    string    `bun:"user_id"`
	Body      []byte    `bun:"body,type:bytea"`
	CreatedAt time.Time `bun:"created_at"`
	RelayedAt time.Time `bun:"relayed_at,nullzero"`
	// Traceparent and RequestID are the origin of the event; empty: unknown.
	Traceparent string `bun:"traceparent"`
	RequestID   string `bun:"request_id"`
	// Sealed is the body that endpoints get; nil: they get Body, or it was deleted.
	Sealed []byte `bun:"sealed,type:bytea"`
	// Position is the position of a relayed public event in the feed, from 1.
	Position int64 `bun:"position,nullzero"`
}

// SealedBinding binds a sealed body to its event.
func SealedBinding(tenantID, eventID string) seal.Binding {
	return seal.Binding{TenantID: tenantID, Record: eventID, Field: "body"}
}

// Origin is what caused the event.
func (r Row) Origin() telemetry.Origin {
	return telemetry.Origin{Traceparent: r.Traceparent, RequestID: r.RequestID}
}

// body is the JSON that endpoints receive. Source: decisions, Webhooks.
type body struct {
	Type        Type   `json:"type"`
	EventID     string `json:"event_id"`
	TenantID    string `json:"tenant_id"`
	WorkspaceID string `json:"workspace_id"`
	CreatedAt   string `json:"created_at"`
	// EventTimestamp is CreatedAt in whole seconds of Unix time, the only time of ElevenLabs' events.
	EventTimestamp int64           `json:"event_timestamp"`
	Test           bool            `json:"test,omitempty"`
	Data           json.RawMessage `json:"data"`
}

// Append inserts the event into the outbox in the caller's transaction and returns its id. The row
// has the trace and the request id of ctx. Appending an id a second time changes nothing.
func Append(ctx context.Context, tx bun.IDB, e Event) (id string, err error) {
	ctx, span := telemetry.Start(ctx, telemetry.Producer, "append "+string(e.Type),
		telemetry.Text("messaging.system", "parlance_outbox"), telemetry.Text("messaging.destination.name", string(e.Type)),
		telemetry.Text("messaging.operation.name", "append"), telemetry.Text("messaging.operation.type", "create"))
	defer func() { span.End(err) }()
	if e.ID == "" {
		e.ID = idgen.New(idgen.Event)
	}
	encoded, err := Body(e)
	if err != nil {
		return "", err
	}
	span.Set(telemetry.Text("messaging.message.id", e.ID))
	origin := telemetry.OriginOf(ctx)
	row := Row{
		TenantID: e.TenantID, EventID: e.ID, WorkspaceID: e.WorkspaceID, Type: e.Type,
		Subject: e.Subject, AgentID: textOf(e.Payload, "agent_id"), SessionID: textOf(e.Payload, "session_id"),
		UserID: textOf(e.Payload, "user_id"), Body: encoded, Sealed: e.Sealed, CreatedAt: e.CreatedAt,
		Traceparent: origin.Traceparent, RequestID: origin.RequestID,
	}
	// Postgres sends equal notifications of a transaction once, at commit.
	payload := PublicAppended
	if strings.HasPrefix(string(e.Type), "_") {
		payload = InternalAppended
	}
	insert := tx.NewInsert().Model(&row).On("CONFLICT (tenant_id, event_id) DO NOTHING").Returning("seq")
	if _, err := tx.NewRaw("WITH appended AS (?) SELECT pg_notify(?, ?)", insert, Channel, payload).Exec(ctx); err != nil {
		return "", fmt.Errorf("append event %s: %w", e.Type, err)
	}
	return e.ID, nil
}

// AppendFrom returns an INSERT that appends an internal event once for each row of from, a query of
// the WITH clause that it becomes part of, and notifies the relay of it. Appending an id a second
// time changes nothing.
func AppendFrom(ctx context.Context, db bun.IDB, e Event, from string) (bun.Query, error) {
	encoded, err := Body(e)
	if err != nil {
		return nil, err
	}
	origin := telemetry.OriginOf(ctx)
	return db.NewRaw(`
		INSERT INTO events (tenant_id, event_id, workspace_id, type, subject, agent_id, session_id, user_id, body, created_at,
		    traceparent, request_id)
		SELECT ?, ?, ?, ?, ?, '', '', '', ?::bytea, ?::timestamptz, ?, ?
		FROM ? CROSS JOIN (SELECT pg_notify(?, ?)) AS told
		ON CONFLICT (tenant_id, event_id) DO NOTHING
		RETURNING seq`,
		e.TenantID, e.ID, e.WorkspaceID, e.Type, e.Subject, encoded, e.CreatedAt, origin.Traceparent, origin.RequestID,
		bun.Ident(from), Channel, InternalAppended), nil
}

// Body returns the JSON that endpoints receive for the event. It is made once, so that every
// attempt signs the same bytes.
func Body(e Event) ([]byte, error) {
	data, err := marshalPayload(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("encode payload of %s: %w", e.Type, err)
	}
	encoded, err := json.Marshal(body{
		Type: e.Type, EventID: e.ID, TenantID: e.TenantID, WorkspaceID: e.WorkspaceID,
		CreatedAt: e.CreatedAt.UTC().Format(time.RFC3339Nano), EventTimestamp: e.CreatedAt.Unix(), Test: e.Test, Data: data,
	})
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Type, err)
	}
	return encoded, nil
}

// textOf returns a string field of a payload; "" when it has none of that name.
func textOf(payload proto.Message, name protoreflect.Name) string {
	if payload == nil {
		return ""
	}
	message := payload.ProtoReflect()
	field := message.Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind || field.IsList() {
		return ""
	}
	return message.Get(field).String()
}

// marshalPayload returns snake_case JSON with every field; {} without a payload.
func marshalPayload(payload proto.Message) (json.RawMessage, error) {
	if payload == nil {
		return json.RawMessage("{}"), nil
	}
	return stablejson.Marshal(payload)
}
