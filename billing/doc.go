// Package billing is what tenants pay for: their subscriptions at Stripe, the plans that these give
// them, and their usage, which is reported to Stripe's meters.
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
// # Usage
//
//	usage_months ── what is new ──► billing_meter_events ── ReportUsage ──► Stripe
//	                  counted in billing_meters         │
//	                  in the same statement             ├─ taken: deleted, added to reported
//	                                                    ├─ refused, not taken, unknown: waits
//	                                                    └─ unknown for 23 h, 35 days old: given up
//
// An event is fixed in Postgres before it is sent: quantity, customer, time and identifier. Every
// attempt sends the same, and Stripe counts an identifier once in 24 hours. So nothing is reported
// twice or lost when workers are killed (decision 0058). A unit of usage is in one event, because
// the event is made in the statement that counts it. When a customer changes, what is new is made
// an event of the former one in the same transaction.
//
// # Locks
//
// In this order: the customer (workspaces.TenantOfCustomer), then the row of the tenant
// (workspaces.LockTenant), which makes everything else about its billing wait, then the rows of its
// meters. When a tenant's customer was deleted, the one that replaces it is locked last, because
// which one that is can be read only under the lock of the tenant; of two transactions that wait
// for each other one is run again. The reports of all tenants take these in any order, and leave
// out what is locked.
//
// Tables: billing_events, billing_subscriptions, billing_meters, billing_meter_runs,
// billing_meter_events. Events: subscription.changed, invoice.paid, invoice.failed, all of the
// tenant as a whole.
package billing
