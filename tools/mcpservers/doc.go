// Package mcpservers knows which tools the MCP servers of a workspace have, and calls them.
// provider/mcp speaks the protocol.
//
//	list of the session ─► list younger than 5 min ─► ask the server, 3 s
//	                    ─► older list ─► unreachable
//
// A node fetches a list once for everybody who waits for it. It is made usable for models
// (catalog.go), and a session keeps the first list that it got. What a server says is data: it is
// cut and fenced.
//
// Inspect asks a server that an operator names, and stores nothing.
//
// Tables: mcp_catalogs, mcp_discoveries, session_mcp_catalogs.
package mcpservers
