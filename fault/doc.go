// Package fault is the one error table of Parlance.
//
// A [Error] is a decision that a caller can act on: a [Kind] (what sort of failure, which
// fixes the HTTP status and the Connect code) and a [Reason] (the public, permanent,
// kebab-case slug a client switches on). Everything that is not a decision is wrapped with
// fmt.Errorf and ends as Internal at the edge, its cause logged and never shown.
//
// Two tables live here and nowhere else: kinds → wire codes (kind.go) and reasons → kind,
// title and advice (reason.go). docs/errors.md and the pages under /errors/ are made from
// the second.
package fault
