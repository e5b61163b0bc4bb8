// Package breaker keeps calls from parties that fail: a circuit per key, on this node, in memory.
//
//	closed ──failures within the window──► open ──pause──► one trial ──healthy──► closed
//	                                        ▲──────────────failing──┘
//
// Endpoints of tools (package tools) and model providers (provider/model) stand behind one each. It
// knows no clock: every call brings its time.
package breaker
