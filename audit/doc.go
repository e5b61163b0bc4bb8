// Package audit is the log of what operators and API keys changed: who, what, from where, and the
// settings before and after.
//
// Entries of a tenant are numbered from 1 without gaps. Each one holds the hash of the entry before
// it, so that an entry cannot be changed, removed or moved without every later hash being wrong:
//
//	entry 1 ── hash ──▶ entry 2 ── hash ──▶ entry 3 … head
//
// A change is recorded in two steps, so that none is lost when a process dies between them:
//
//	Begin ──▶ row of audit_pending ──▶ the change ──┬── Finish: its entry is written
//	                                                ├── Drop: nothing was changed
//	                                                └── Sweep: the process died
//
// Each of the three deletes the row. Sweep writes an entry with the outcome unknown.
//
// The hash is SHA-256 of [Entry.Canonical], which docs/audit.md describes for others. It shows
// changes to somebody who has kept an earlier hash; it is no signature. Whoever may write the
// database can compute a whole new chain, which [Verifier] finds by an anchor.
//
// Tables: audit_entries, audit_pending. Events: none.
package audit
