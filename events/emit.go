package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/proto"
)

// Occasion is where and when a public event happened.
type Occasion struct {
	TenantID string
	// WorkspaceID is empty for the events of a tenant as a whole, which go to all its workspaces.
	WorkspaceID string
	// ID is the event's, evt_…; empty: a new one. An occasion that is reported more than once, such
	// as a payment provider's webhook, has an id made from its subject, so that it is appended
	// once.
	ID string
	// At is taken before the transaction, in UTC.
	At time.Time
}

// AppendEscalation appends that a guard escalated a turn.
func AppendEscalation(ctx context.Context, tx bun.IDB, o Occasion, data *EscalationTriggeredData) (string, error) {
	return appendPublic(ctx, tx, o, EscalationTriggered, data)
}

// AppendDSARReady appends that an export can be downloaded.
func AppendDSARReady(ctx context.Context, tx bun.IDB, o Occasion, data *DSARReadyData) (string, error) {
	return appendPublic(ctx, tx, o, DSARReady, data)
}

// AppendFatigueAlert appends that a user used up a window.
func AppendFatigueAlert(ctx context.Context, tx bun.IDB, o Occasion, data *FatigueAlertData) (string, error) {
	return appendPublic(ctx, tx, o, FatigueAlert, data)
}

// AppendUsageThreshold appends that a threshold was crossed.
func AppendUsageThreshold(ctx context.Context, tx bun.IDB, o Occasion, data *UsageThresholdData) (string, error) {
	return appendPublic(ctx, tx, o, UsageThreshold, data)
}

// AppendSubscriptionChanged appends that the tenant's subscription has another status.
func AppendSubscriptionChanged(ctx context.Context, tx bun.IDB, o Occasion, data *SubscriptionChangedData) (string, error) {
	return appendPublic(ctx, tx, o, SubscriptionChanged, data)
}

// AppendInvoicePaid appends that an invoice of the tenant was paid.
func AppendInvoicePaid(ctx context.Context, tx bun.IDB, o Occasion, data *InvoicePaidData) (string, error) {
	return appendPublic(ctx, tx, o, InvoicePaid, data)
}

// AppendInvoiceFailed appends that a payment of an invoice failed.
func AppendInvoiceFailed(ctx context.Context, tx bun.IDB, o Occasion, data *InvoiceFailedData) (string, error) {
	return appendPublic(ctx, tx, o, InvoiceFailed, data)
}

// appendPublic refuses an event of a workspace without its workspace, and an event of the tenant as
// a whole with one.
func appendPublic(ctx context.Context, tx bun.IDB, o Occasion, t Type, payload proto.Message) (string, error) {
	switch {
	case o.TenantID == "" || o.At.IsZero():
		return "", fmt.Errorf("append %s: its tenant or time is missing", t)
	case t.TenantWide() != (o.WorkspaceID == ""):
		return "", fmt.Errorf("append %s: %w", t, errPlace)
	}
	return Append(ctx, tx, Event{ID: o.ID, TenantID: o.TenantID, WorkspaceID: o.WorkspaceID, Type: t, Payload: payload, CreatedAt: o.At})
}

var errPlace = errors.New("events of a tenant as a whole have no workspace, all others have one")
