// Package apiclient is what the clients of vendors share: posts that are repeated before the first
// byte of an answer ([Caller]), and server-sent events ([Events]).
//
// It knows no vendor: paths, headers, bodies and the meaning of an error belong to the adapters.
package apiclient
