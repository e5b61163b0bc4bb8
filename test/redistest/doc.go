// Package redistest gives each test a Redis of its own.
//
// New is the cheap way: one of the 1024 logical databases of the shared ephemeral stack (package
// keeper), or an empty one of the server that REDIS_URL names. Logical databases share the server:
// publish and subscribe, FLUSHALL, CONFIG and SCRIPT FLUSH reach all of them.
//
// NewServer is for tests that do such things, or that stop, restart or kill Redis: a process of
// its own on its own socket, started in about 30 ms.
package redistest
