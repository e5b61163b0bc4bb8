// Package rpc is the Connect handlers: each converts a message, calls one noun, and converts
// what comes back. There is no rule, no SQL and no status code here.
//
// A handler returns errors as they are; the interceptor turns package fault's decisions into
// the wire's. The caller comes from workspaces.PrincipalFrom(ctx).
package rpc
