// Package mcp calls the tools of Model Context Protocol servers, through the official SDK.
//
//	List ─┐                      ┌─ POST initialize ──► Streamable HTTP
//	Call ─┴► session of the key ─┤   4xx ─► GET ──────► the older SSE transport
//	         (pooled, idle 5 min)└─ JSON-RPC error ────► server/discover (2026-07-28)
//
// A session is kept for the next call with the same key. One that the server has forgotten (404)
// or that broke before anything of a call was sent is opened again, once; a call of which bytes
// were sent is never sent again.
//
// A server is not trusted. It is asked with the http.Client that the caller hands in, which guards
// where it connects to; a session speaks to the origin of its URL only, whatever endpoint a server
// names; messages, streams, lists and waits are bounded; no capability is offered, so a server can
// ask the client for nothing. What a server says comes back as text and is never logged here.
//
// It does not know which tools there are for whom, what may be called, or what a call means: that
// is package tools.
package mcp
