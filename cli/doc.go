// Package cli is the root of the `parlance` command. It joins the commands and holds those that
// serve (server, worker), administer an installation (migrate, tenants, keys) and explain (doctor,
// health, config, errors, version).
//
//	cli ─► agents, chat, events, kb, memory,
//	       sessions, tools, webhooks, workspaces ─► client ─► command, term
//	    ─► dev                       ────────────► command, term
//	    ─► complete ─► client
//
// Those in the first two lines are clients of the public API. The others open the database
// themselves; keys does so with --tenant only.
package cli
