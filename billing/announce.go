package billing

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
)

// announceInvoices appends invoice.paid and invoice.failed for events that were just claimed: once
// for an invoice that was paid and once for each failed attempt, though Stripe says it twice.
func (s *Service) announceInvoices(ctx context.Context, tx bun.Tx, claimed []Event, now time.Time) error {
	for _, e := range claimed {
		if e.Data.Invoice == nil {
			continue
		}
		announced, err := invoiceAnnounced(ctx, tx, e)
		if err != nil {
			return err
		}
		outcome := OutcomeRepeated
		if !announced {
			outcome = OutcomeAnnounced
			if err := appendInvoice(ctx, tx, e, now); err != nil {
				return err
			}
		}
		if err := updateOutcome(ctx, tx, e, outcome); err != nil {
			return err
		}
	}
	return nil
}

func appendInvoice(ctx context.Context, tx bun.Tx, e Event, now time.Time) error {
	invoice := e.Data.Invoice
	if e.paidInvoice() {
		paidAt := invoice.PaidAt
		if paidAt.IsZero() {
			paidAt = e.CreatedAt
		}
		return appendEvent(ctx, tx, e.tenantWide(events.InvoicePaid, &events.InvoicePaidData{
			InvoiceId: e.ObjectID, CustomerId: e.CustomerID, SubscriptionId: e.SubscriptionID, AmountPaid: float64(invoice.AmountPaid),
			Currency: invoice.Currency, HostedInvoiceUrl: invoice.HostedInvoiceURL, PaidAt: timestamppb.New(paidAt),
		}, now))
	}
	return appendEvent(ctx, tx, e.tenantWide(events.InvoiceFailed, &events.InvoiceFailedData{
		InvoiceId: e.ObjectID, CustomerId: e.CustomerID, SubscriptionId: e.SubscriptionID, AmountDue: float64(invoice.AmountDue),
		Currency: invoice.Currency, AttemptCount: int32(invoice.AttemptCount), NextAttemptAt: timestamp(invoice.NextAttemptAt),
		FailureMessage: invoice.FailureMessage, FailedAt: timestamppb.New(e.CreatedAt),
	}, now))
}

func (e Event) tenantWide(eventType events.Type, payload proto.Message, now time.Time) events.Event {
	return events.Event{TenantID: string(e.TenantID), Type: eventType, Payload: payload, CreatedAt: now}
}

// announceChanges appends subscription.changed for each subscription whose status or plan has
// changed. When nothing of the kind explains a new plan of the tenant, the grace is over or the
// customer was changed; then it is appended for the subscription that gives the plan or gave it.
func (s *Service) announceChanges(ctx context.Context, tx bun.Tx, st *settlement) error {
	var changed, concerned []Subscription
	for _, id := range slices.Sorted(maps.Keys(st.after)) {
		was, is := st.before[id], st.after[id]
		if was.Status != is.Status || was.Plan != is.Plan {
			changed = append(changed, is)
		}
		if was.GivesPlan != is.GivesPlan {
			concerned = append(concerned, is)
		}
	}
	if len(changed) == 0 && st.plan != st.tenant.Plan {
		changed = concerned
	}
	for _, one := range changed {
		err := appendEvent(ctx, tx, events.Event{
			TenantID: string(st.tenant.ID), Type: events.SubscriptionChanged, CreatedAt: st.now,
			Payload: &events.SubscriptionChangedData{
				SubscriptionId: one.ID, CustomerId: one.CustomerID, PreviousStatus: string(st.before[one.ID].Status),
				Status: string(one.Status), Plan: st.plan, CurrentPeriodEnd: timestamp(one.CurrentPeriodEnd),
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func appendEvent(ctx context.Context, tx bun.Tx, e events.Event) error {
	_, err := events.Append(ctx, tx, e)
	return err
}

// timestamp returns nil for the zero time.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
