// Package rpc is the Connect handlers: each converts a message, calls one noun, and converts the
// result. There is no rule, no SQL and no status code here.
//
// A handler returns errors as they are; the interceptor turns package fault's decisions into the
// wire's. Connect drops a message that is returned with an error, so handlers convert a result
// without looking at the error first. The caller comes from workspaces.PrincipalFrom(ctx).
//
// It has more than 5,000 lines because it has all services: they share the conversions of pages,
// times, changed fields and JSON, and a file is the handlers of one service or their conversions.
package rpc
