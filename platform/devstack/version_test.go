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
		least Version
		want  bool
	}{
		{"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", MinPostgres, true},
		{"postgres (PostgreSQL) 14.9", MinPostgres, false},
		{"postgres (PostgreSQL) 18beta1", MinPostgres, true},
		{"7.0.15", MinRedis, true},
		{"6.2.14", MinRedis, false},
		{"0.8.0-1", MinVector, true},
		{"0.6.2", MinVector, false},
		{"0.8.1", SafeVector, false},
		{"0.10.0", SafeVector, true},
		{"", MinVector, false},
		{"none", MinVector, false},
	}
	for _, row := range rows {
		got := AtLeast(row.text, row.least)
		if got != row.want {
			t.Errorf("AtLeast(%q, %v) = %t, want %t", row.text, row.least, got, row.want)
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
