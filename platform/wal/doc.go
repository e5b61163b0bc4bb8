// Package wal is a write-ahead log: it keeps records on this machine's disk until they can be
// written where they belong, also when the process dies in between.
//
//	Append ──► the process's own segment ──► Read, then Done or SetAside
//	the process dies ──► its segment is unlocked ──► Adopt, by another process on the directory
//
// A log is a directory with one segment for each process. A segment has a lock, which the kernel
// releases when the process ends, and a file that is only appended to and is emptied when no record
// in it waits any more. A record is on disk (fsync) when Append returns; concurrent appends share
// an fsync.
//
// Nothing in a log can be read or moved without the installation's keys. Each segment has a key of
// its own, which is sealed with those keys once, when the segment is made; an append needs no key
// service.
//
//	file:   magic, length of the sealed key, sealed key, then frames
//	frame:  4 bytes mark, kind, sequence number, length, CRC-32C of all that; then the body
//	body:   AES-256-GCM of stream, time and data, bound to segment, kind and number
//
// A frame at the end that was not written whole is cut off. Damaged bytes between frames are
// skipped, counted and logged, and the frames behind them are read. Records that cannot be applied
// are kept as files in the directory aside.
//
// The package does not know what is in a record.
package wal
