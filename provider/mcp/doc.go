// Package mcp calls the tools of Model Context Protocol servers, through the official SDK.
//
//	List ─┐                      ┌─ POST initialize ──► Streamable HTTP
//	Call ─┴► session of the key ─┤   4xx ─► GET ──────► the older SSE transport
//	         (pooled, idle 5 min)└─ JSON-RPC error ────► server/discover (2026-07-28)
//
// A session is kept for the next call with the same key. If the server does not know the session
// any more (404), or the connection broke before any byte of a call was sent, the session is opened
// again, once. A call of which bytes were sent is never sent again.
//
// Servers are not trusted. The http.Client of the caller guards which addresses are connected to. A
// session connects only to the origin of its URL, whatever endpoint a server names. Messages,
// streams, lists and waits are bounded. The client offers no capabilities, so a server cannot send
// requests to it. What a server says is returned as text and never logged here.
//
// It does not decide which tools there are and which may be called: package tools does.
package mcp
