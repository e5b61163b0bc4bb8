// Package breaker is a circuit breaker: it refuses calls of parties that keep failing. There is one
// circuit for each key, on this node, in memory.
//
//	closed ── failures within the window ──► open ── pause ──► one trial ── healthy ──► closed
//	                                          ▲────────────────── failing ──┘
//
// Endpoints of tools (package tools) and model providers (provider/model) are behind one each.
// Every call passes the time, so that tests decide it.
//
// It is not github.com/sony/gobreaker, which reads the clock itself, does not say how long a
// refused caller should wait, and has one circuit: the map of circuits would be ours all the same.
package breaker
