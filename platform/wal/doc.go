// Package wal keeps records on this machine's disk that must outlive the process until they can be
// written where they belong.
//
//	Append ──► own segment ──► Read, Done (or SetAside)
//	process dies ──► its segment is free ──► Adopt, by its successor or a neighbour on the same directory
//
// a log is a directory with one segment for each process: a lock that the kernel gives back when
// the process ends, and a log that is only appended to, and emptied when nothing in it waits any
// more. A record is on disk (fsync) when Append returns; appends at the same time share an fsync.
// Nothing in a log can be read or moved without the installation's keys: each segment has a key of
// its own, which is sealed by them once, at the start, so that appending asks nobody.
//
//	log:    magic, length and sealed key, then frames
//	frame:  4 bytes mark, kind, sequence number, length, CRC-32C of all that; then the body
//	body:   AES-256-GCM of stream, time and data, bound to segment, kind and number
//
// A tail that was not written whole is cut off. What was damaged in the middle is left out, counted
// and logged, and what follows it is read. Records that nobody can use are kept aside as files.
//
// It does not know what is in a record.
package wal
