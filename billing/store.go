package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/workspaces"
)

// insertEvent stores an event whose tenant is not known yet. It returns false when it is stored
// already; when another transaction is just storing it, it waits for that one.
func insertEvent(ctx context.Context, tx bun.Tx, e Event) (bool, error) {
	stored, err := postgres.Changed(tx.NewInsert().Model(&e).
		Comment(postgres.AllTenants("an event names a customer, whose tenant is not known yet")).
		On("CONFLICT (event_id) DO NOTHING").Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("store an event of the payment provider: %w", err)
	}
	return stored, nil
}

// claimEvents gives the events of a customer that belong to no tenant yet to its tenant, and
// returns them.
func claimEvents(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, customerID string) ([]Event, error) {
	var claimed []Event
	err := tx.NewUpdate().Model(&claimed).Comment(postgres.AllTenants("they belong to no tenant yet")).
		Set("tenant_id = ?", tenant).Where("customer_id = ?", customerID).Where("tenant_id IS NULL").
		Returning("*").Scan(ctx)
	if err != nil && !postgres.NoRows(err) {
		return nil, fmt.Errorf("claim the events of a customer: %w", err)
	}
	return claimed, nil
}

// selectEvents reads the events of a tenant that say something about subscriptions.
func selectEvents(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID) ([]Event, error) {
	var found []Event
	err := tx.NewSelect().Model(&found).Where("e.tenant_id = ?", tenant).
		Where("e.subscription_id <> '' OR e.type = ?", stripe.CustomerDeleted).Order("e.created_at", "e.event_id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the events of a tenant: %w", err)
	}
	return found, nil
}

func updateOutcome(ctx context.Context, tx bun.Tx, e Event, outcome Outcome) error {
	_, err := tx.NewUpdate().Model((*Event)(nil)).Set("outcome = ?", outcome).
		Where("tenant_id = ?", e.TenantID).Where("event_id = ?", e.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write the outcome of an event: %w", err)
	}
	return nil
}

// invoiceAnnounced says whether the payment of an invoice was announced, or its failed attempt of
// this second. Stripe's attempt_count does not tell attempts apart: it is the same for those that
// are made by hand.
func invoiceAnnounced(ctx context.Context, tx bun.Tx, e Event) (bool, error) {
	query := tx.NewSelect().Model((*Event)(nil)).Where("e.tenant_id = ?", e.TenantID).Where("e.object_id = ?", e.ObjectID).
		Where("e.outcome = ?", OutcomeAnnounced)
	if e.paidInvoice() {
		query = query.Where("e.type IN (?)", bun.List([]stripe.EventType{stripe.InvoicePaid, stripe.InvoicePaymentSucceeded}))
	} else {
		query = query.Where("e.type = ?", e.Type).Where("e.created_at = ?", e.CreatedAt)
	}
	announced, err := query.Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("look whether an invoice was announced: %w", err)
	}
	return announced, nil
}

// customerDeleted says whether a customer of the tenant was deleted at Stripe.
func customerDeleted(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, customerID string) (bool, error) {
	deleted, err := db.NewSelect().Model((*Event)(nil)).Where("e.tenant_id = ?", tenant).Where("e.customer_id = ?", customerID).
		Where("e.type = ?", stripe.CustomerDeleted).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("look whether a customer was deleted: %w", err)
	}
	return deleted, nil
}

// selectWaitingCheckout reads the newest checkout for a tenant whose customer no tenant has and was
// not deleted; without an id: there is none.
func selectWaitingCheckout(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID) (Event, error) {
	var found Event
	err := tx.NewSelect().Model(&found).Comment(postgres.AllTenants("they belong to no tenant yet")).Where("e.tenant_id IS NULL").
		Where("(e.data->'checkout'->>'subscribes')::boolean").Where("e.data->'checkout'->>'tenant_id' = ?", tenant).
		Where("NOT EXISTS (SELECT FROM billing_events AS d WHERE d.tenant_id IS NULL AND d.customer_id = e.customer_id AND d.type = ?)",
			stripe.CustomerDeleted).
		Order("e.created_at DESC", "e.event_id DESC").Limit(1).Scan(ctx)
	if err != nil && !postgres.NoRows(err) {
		return Event{}, fmt.Errorf("read the checkouts that wait for a tenant: %w", err)
	}
	return found, nil
}

func selectSubscriptions(ctx context.Context, db bun.IDB, tenant workspaces.TenantID) ([]Subscription, error) {
	var found []Subscription
	if err := db.NewSelect().Model(&found).Where("s.tenant_id = ?", tenant).Order("s.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read subscriptions: %w", err)
	}
	return found, nil
}

// upsertSubscription writes a subscription.
func upsertSubscription(ctx context.Context, tx bun.Tx, s Subscription) error {
	insert := tx.NewInsert().Model(&s).On("CONFLICT (tenant_id, id) DO UPDATE")
	for _, column := range []string{
		"customer_id", "status", "price_id", "plan", "current_period_end", "cancel_at_period_end", "started_at",
		"payment_failed_at", "grace_until", "due_at", "gives_plan", "event_id", "updated_at",
	} {
		insert = insert.Set("? = EXCLUDED.?", bun.Ident(column), bun.Ident(column))
	}
	if _, err := insert.Exec(ctx); err != nil {
		return fmt.Errorf("write a subscription: %w", err)
	}
	return nil
}

// selectDue reads up to limit tenants with a subscription whose grace is over at now, or whose
// price buys another plan than it did. prices are those of each plan.
func selectDue(ctx context.Context, db bun.IDB, now time.Time, prices map[string][]string, limit int64) ([]workspaces.TenantID, error) {
	query := db.NewSelect().Model((*Subscription)(nil)).Comment(postgres.AllTenants("the sweep of subscriptions")).
		Distinct().Column("tenant_id").Where("s.due_at <= ?", now).Limit(limit)
	for plan, ids := range prices {
		query = query.WhereOr("s.plan <> ? AND s.price_id IN (?)", plan, bun.List(ids))
	}
	var due []workspaces.TenantID
	if err := query.Scan(ctx, &due); err != nil {
		return nil, fmt.Errorf("read subscriptions that are due: %w", err)
	}
	return due, nil
}

// deleteUnclaimed deletes events that no tenant has claimed since before.
func deleteUnclaimed(ctx context.Context, db bun.IDB, before time.Time) error {
	_, err := db.NewDelete().Model((*Event)(nil)).Comment(postgres.AllTenants("they belong to no tenant")).
		Where("tenant_id IS NULL").Where("received_at < ?", before).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete events that no tenant has claimed: %w", err)
	}
	return nil
}
