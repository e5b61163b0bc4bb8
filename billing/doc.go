// Package billing is what tenants pay for: their subscriptions at Stripe, and the plans that these
// give them.
//
//	Stripe ── POST /v1/billing/stripe/webhook ──► Receive ──► billing_events (each event once)
//	                                                            │ in the same transaction
//	   customer known ────────────────────────────────────────► settle ──► subscription, plan,
//	   customer unknown: kept until a tenant gets the customer ─┘          events of the outbox
//
// # The order of events does not matter
//
// Stripe delivers events late, twice, at the same time and in any order. So nothing is changed by
// an event alone: it is stored, and the subscription is computed from all events that are stored
// about it.
//
//   - Its status, price and period are those of the event that happened last (newerThan).
//   - Its payments fail since the first failure that no success has followed (paymentFailedAt).
//   - Invoices are announced once: invoice.paid for each invoice, invoice.failed for each attempt.
//
// # What gives the plan
//
//	incomplete ──► active, trialing ◄──► past_due, unpaid ──► canceled, incomplete_expired, paused
//	  no plan        the plan of           the plan until         no plan
//	                 the price             grace_until
//
// When no subscription gives a plan any more the tenant falls to the fallback plan. Sweep finds
// those whose grace is over. A plan that a person has set stays: a tenant falls only from a plan
// that a subscription gave (tenants.plan_by_billing), and a plan that was set by hand during a
// subscription stays until the subscription asks for another one.
//
// # Locks
//
// In this order: the customer (workspaces.TenantOfCustomer), then the row of the tenant
// (workspaces.LockTenant), which makes everything else about its billing wait.
//
// Tables: billing_events, billing_subscriptions. Events: subscription.changed, invoice.paid,
// invoice.failed, all of the tenant as a whole.
package billing
