// Package keeper shares one ephemeral stack (platform/devstack) among all test binaries of a user.
//
//	test binary: Acquire ─► users.lock (shared, held to the end) ─► keeper alive? ─► ready.json
//	                                                             └─► no: start one ─┘
//	keeper: keeper.lock ─► devstack.Start ─► ready.json ─► users.lock is free for 5 s ─► Stop
//
// The keeper is a detached process which outlives the test binary that started it, and ends by
// itself because locks of dead processes vanish: also after kill -9 or Ctrl-C of the tests. It is
// the same executable as the tests, started with an environment variable that a package variable
// of ours looks at while packages are initialised. That is a deliberate exception to "no init" and
// "no environment outside app": without it every test package would need a TestMain.
//
// The stack's files are in memory (/dev/shm) where there is room, else in the temporary directory.
// TMPDIR chooses another place.
//
// The package is for tests and benchmarks only; nothing that ships imports it.
package keeper
