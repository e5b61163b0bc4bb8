// Package ticker does work at an interval for as long as a context lives: leases are renewed, rows
// refreshed, news looked for. Wait waits once.
//
// It starts no goroutine: the caller decides where the work runs, and waits for it.
package ticker
