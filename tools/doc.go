// Package tools is the controlled actions that an agent can take in a turn: the catalog, the
// attachments to agents, the registry that the model of an agent sees, and the calls.
//
// There are four buckets of tools (builtins.json has the table):
//
//	memory    search_memory, add_memory_note,     on every agent; hidden in the catalog
//	          record_persona_statement
//	opt_in    schedule_callback, manage_callback  off until attached with enabled true
//	system    end_call, language_detection,       always on
//	          skip_turn
//	custom    registered in a workspace;          off until attached
//	          kind http or mcp
//
// This package knows built-ins by name only. The package that implements one registers a [Builtin].
// A built-in without an implementation is listed with the reason not_available and is not offered
// to the model. An mcp tool stands for one or all tools of an MCP server.
//
// A call passes these checks. A refused call is traced like any other:
//
//	enabled ─► arguments ─► render {{variables}} ─► slot ─► breaker ─► cap ─► send, retry ─► trace
//
// The result is text that a model can act on, also when the call failed. Secrets (auth_header and
// secret__ variables) are put into requests only. Everything that leaves this package is redacted.
//
// The packages below do one thing each, and know neither tools nor sessions:
//
//	failure      why a call failed
//	schema       the JSON Schema of arguments, and what checking it may cost
//	template     placeholders in URLs, headers and JSON
//	redact       secrets in text from outside
//	modeltext    text for models made of answers
//	httpcall     one call over HTTP: render, send, retry
//	mcpservers   the lists of tools of MCP servers, and calls of them
//
// Tables: tools, tool_attachments, tool_calls, tool_call_counts. Events: none.
// It does not run turns (package turns) and does not remember or dial (memory, telephony).
package tools
