package devstack

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAtLeast(t *testing.T) {
	t.Parallel()
	rows := []struct {
		text  string
		least version
		want  bool
	}{
		{"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", minPostgres, true},
		{"postgres (PostgreSQL) 14.9", minPostgres, false},
		{"postgres (PostgreSQL) 18beta1", minPostgres, true},
		{"7.0.15", minRedis, true},
		{"6.2.14", minRedis, false},
		{"0.8.0-1", minVector, true},
		{"0.6.2", minVector, false},
		{"0.8.1", safeVector, false},
		{"0.10.0", safeVector, true},
		{"", minVector, false},
		{"none", minVector, false},
	}
	for _, row := range rows {
		got := atLeast(row.text, row.least)
		if got != row.want {
			t.Errorf("atLeast(%q, %v) = %t, want %t", row.text, row.least, got, row.want)
		}
	}
}

func TestControlVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vector.control")
	err := os.WriteFile(path, []byte("comment = 'x 9.9'\ndefault_version = '0.8.0'\nmodule_pathname = '$libdir/vector'\n"), 0o600)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	if got := controlVersion(path); got != "0.8.0" {
		t.Errorf("controlVersion = %q, want 0.8.0", got)
	}
	if got := controlVersion(path + ".absent"); got != "" {
		t.Errorf("controlVersion of no file = %q, want none", got)
	}
}
