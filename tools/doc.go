// Package tools is the controlled actions an agent can take in a turn: the catalog, the
// attachments to agents, the registry an agent's model sees, and the calls.
//
// Four buckets (builtin.go has the table):
//
//	memory    search_memory, add_memory_note, record_persona_statement   on every agent; hidden in the catalog
//	opt_in    schedule_callback, manage_callback                         off until attached with enabled true
//	system    end_call, language_detection, skip_turn                    always on
//	custom    registered in a workspace; kind http or mcp                off until attached
//
// This package knows built-ins by name only; who implements one hands in a [Builtin]. A
// built-in that nobody implements is listed with the reason not_available and is not offered to the
// model.
//
// An mcp tool stands for one or all tools of a Model Context Protocol server (provider/mcp speaks it):
//
//	a turn ─► the session's own list ─► one younger than 5 min ─► ask the server, 3 s ─► an older one, or off: unreachable
//
// A list is asked for once for all who want it, on all nodes; it is made fit for models (mcpfit.go),
// and a session keeps the one that it met first. What a server says is data, cut and fenced.
//
// A call goes through these gates, and each refusal is traced like a call:
//
//	enabled ─► arguments against input_schema ─► render {{variables}} ─► breaker ─► cap of the session ─► send, retry ─► answer as text ─► trace
//
// An answer is text that a model can act on, also when the call failed. Secrets (auth_header,
// secret__ variables) are put into the request and nowhere else: what leaves this package, the
// model's answer included, has been redacted.
//
// Tables: tools, tool_attachments, tool_calls, tool_call_counts, mcp_catalogs, mcp_discoveries,
// session_mcp_catalogs. Events: none.
// It does not run turns (package conversation) and does not remember or dial (memory, telephony).
package tools
