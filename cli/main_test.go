package cli

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv(processorsVariable) != "" {
		os.Exit(followWork())
	}
	os.Exit(m.Run())
}
