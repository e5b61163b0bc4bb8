// Package wire is what our plain clients of model vendors share: JSON posts that are repeated
// before the first byte of an answer ([Caller]), and server-sent events ([Events]).
//
// It knows no vendor: paths, headers, bodies and what an error means are the adapter's.
package wire
