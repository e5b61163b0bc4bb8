// Package devstack finds or installs Postgres (15 or newer, with pgvector 0.8.0 or newer) and
// Redis 7, and runs a private pair of them for `parlance dev`, the tests and the benchmarks.
//
//	Inspect ──► everything there ───────────────────────────────┐
//	   └─► something missing ─► apt and root: install, build ───┤
//	                        └─► otherwise: MissingError         ▼
//	                                  Start ─► running ─► Stop (the last user stops it)
//
// The servers listen on unix sockets in their own directory, never on TCP, so a system's Postgres
// on 5432 or Redis on 6379 is not touched. As root the servers run as the user postgres, because
// Postgres refuses to run as root.
//
// Several processes may use one data directory: each holds a shared lock on DataDir/users.lock,
// and the processes end with the last holder. A holder that is killed leaves the servers running
// (an Ephemeral stack on Linux dies with it); the next Start finds and reuses them.
//
// Where the system's pgvector is missing or too old, it is built from Debian's or Ubuntu's source
// package into a private copy of Postgres under CacheDir, shared by every stack of this user.
//
// The package reads no environment variables, knows nothing of our tables and runs no migrations.
package devstack
