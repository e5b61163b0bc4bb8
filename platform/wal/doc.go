// Package wal is a write-ahead log: it keeps records on this machine's disk until they can be
// written where they belong, also when the process dies in between.
//
//	Append ──► a file in the process's own segment ──► Read, then Done or SetAside
//	the process dies ──► its segment is unlocked ──► Adopt, by another process on the directory
//
// A log is a directory with one segment, a directory too, for each process. A segment has a lock,
// which the kernel releases when the process ends, a key, and one file for each record. The file is
// written under another name, synced and renamed: a record is on disk when Append returns, and a
// file that was not written whole is never read. Done removes the file.
//
// Nothing in a log can be read or moved without the installation's keys. The key of a segment is
// sealed with those keys once, when the segment is made; an append needs no key service. A record
// is AES-256-GCM of its stream, time and data, bound to the segment and the record's number.
//
// A damaged record is logged and lost, the others are read. Records that cannot be applied are kept
// as files in the directory aside.
//
// The package does not know what is in a record.
package wal
