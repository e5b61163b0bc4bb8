package parlance_test

import (
	"fmt"
	"os"
	"testing"

	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pgtest"
)

func TestMain(m *testing.M) {
	pgtest.SetParallel(2) // each has servers of its own, which compute
	code := m.Run()
	if err := harness.RemoveBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
