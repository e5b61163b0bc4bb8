// Package signing keeps the keys that sign the tokens of sessions.
//
// A key signs for thirty days, then the next one replaces it. A retired key verifies for three more
// days.
//
// Tables: signing_keys. Events: none.
package signing
