// Package beat does something every so often for as long as a context lives: leases are renewed, rows refreshed, news looked for.
//
// It starts no goroutine: who beats decides where, and waits for it.
package beat
