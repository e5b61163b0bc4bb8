// Package breaker is a circuit breaker: it refuses calls of parties that keep failing. There is one
// circuit for each key, on this node, in memory.
//
//	closed ── too many failures ───────────► open ── pause ──► one trial ── healthy ──► closed
//	                                          ▲────────────────── failing ──┘
//
// A circuit opens after failures in a row (model providers, hosts of tools), or when half of the
// calls in a window failed (tools). Packages provider/model and tools have theirs.
// Every call passes the time, so that tests decide it.
//
// It is not github.com/sony/gobreaker, which reads the clock itself, does not say how long a
// refused caller should wait, and has one circuit: the map of circuits would be ours all the same.
package breaker
