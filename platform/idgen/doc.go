// Package idgen makes every identifier and every API key of Parlance.
//
// An id is a typed prefix and 26 characters of lower-case Crockford base32 (as in a ULID):
// 48 bits of milliseconds since 1970, then 80 random bits. Ids made by one process sort in
// the order they were made, also within a millisecond and when the clock steps back; ids of
// different processes sort by their clocks. Custom tools alone have UUIDs (version 7).
//
// Ids are names, not secrets: nothing may be allowed because somebody knows an id.
package idgen
