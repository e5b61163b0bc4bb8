// Package publicnet makes every outbound connection of Parlance.
//
// Whatever a tenant can set (tools, MCP servers, webhooks, its own provider URLs) goes through
// [Guard]: each connection's address is checked when it is dialled, after name resolution, so
// a name that resolves to another address a moment later gains nothing. Only public unicast
// addresses and what the operator opened by CIDR pass, without what the operator closed by CIDR.
// No proxy, no redirects, no userinfo.
//
// Hosts the operator names in the environment (models, bucket, OTLP) are dialled as given,
// private or not, through [Guard.OperatorClient], which reaches those hosts and no others.
//
// The package decides nothing about requests: callers turn [ErrNotPublic], [ErrUnresolvable]
// and [ErrURL] into reasons of their own.
package publicnet
