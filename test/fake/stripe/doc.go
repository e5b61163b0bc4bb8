// Package stripe is Stripe on the real wire, for tests, as docs.stripe.com describes it: a server
// that makes checkouts and portals and takes meter events ([Server]), and signed webhook requests
// ([Sender]) with objects in the shape of today's interface and in that before 2025-03-31.
package stripe
