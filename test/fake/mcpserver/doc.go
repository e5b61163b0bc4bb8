// Package mcpserver is a small MCP server, for tests: the official SDK's, over a real socket.
//
//	crm := mcpserver.New(t)
//	crm.Tool("find", "Finds a customer.", `{"type":"object"}`, mcpserver.Text("Ada"))
//	… mcp_server_url: crm.URL …
//	crm.Count("tools/call")
//
// It listens on loopback and records each request before it answers. [Server.Answer] puts another
// answer in place of the SDK's, for servers that hang, break off, or say what they should not.
// [Server.Forget] makes it forget its sessions, as one does that is started anew; [NewSSE] speaks
// the older transport only.
package mcpserver
