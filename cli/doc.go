// Package cli is the root of the `parlance` command. It joins the commands and holds those that
// serve (server, worker), administer a database (migrate, tenants, keys) and explain (doctor,
// health, config, errors, version).
//
//	cli ─► chat, kb, tools, webhooks ─► client ─► command, term
//	    ─► dev                       ────────────► command, term
//
// The commands in chat, kb, tools and webhooks are clients of the public API. The others open the
// database themselves.
package cli
