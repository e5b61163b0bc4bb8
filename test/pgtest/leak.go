package pgtest

import "go.uber.org/goleak"

// IgnoreStack lets goleak pass over the one goroutine that waits for the shared stack's process:
// it lives as long as the test binary that happened to start the stack.
func IgnoreStack() goleak.Option {
	return goleak.IgnoreAnyFunction("parlance.dev/parlance/test/pgtest/keeper.spawn.func2")
}
