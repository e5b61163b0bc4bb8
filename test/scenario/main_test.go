package scenario

import (
	"fmt"
	"os"
	"testing"

	"parlance.dev/parlance/test/harness"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := harness.RemoveBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
