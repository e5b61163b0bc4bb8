// Package cache keeps values in memory up to a number of entries or bytes. It is a thin layer over
// github.com/maypok86/otter, which chooses what to evict: entries that are used often and lately
// stay, and a run over many keys that are asked for once does not push them out.
//
// A cache starts no goroutine and needs no Close. Whether a cached value is still true is the
// caller's question.
package cache
