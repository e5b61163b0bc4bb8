// Package numbers keeps the telephone numbers on which agents are called.
//
//	Create ──► the row ──► the carrier is told to call our webhook ──► configured
//	                                     │ refused or failed
//	                                     └──► the row is deleted again
//
//	a carrier without memory has started ──► Reconfigure (all numbers that are configured)
//
//	a call comes in ──► Find (the number, by the id in the webhook's address)
//	                ──► LookUp (what the customer knows of the caller) ──► a session
//
// A number belongs to one workspace of its tenant. It has an agent, variables for sessions, and
// maybe a URL that LookUp asks before a call is answered. Those requests are signed as webhooks
// are, with a secret of the number that only the answers of Create and RotateSecret show.
//
// The package answers no calls and knows no carrier: it is given one (see provider/carrier).
// Deleting a number does not touch the carrier's account.
//
// Table: phone_numbers, which has nothing about users. Events: none.
package numbers
