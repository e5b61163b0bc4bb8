// Package receiver is a customer's webhook endpoint on loopback: an HTTPS server that verifies
// the signatures of what it gets as a customer would (X-Parlance-Signature by hand,
// webhook-signature with Standard Webhooks' own library), records it, and answers by script.
package receiver
