package postgres

import (
	"strings"
	"testing"
)

// TestServerCheck: what no server here can show.
func TestServerCheck(t *testing.T) {
	t.Parallel()
	good := server{version: 150000, versionText: "15.0", encoding: "UTF8", readOnly: "off"}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	bad := server{version: 140011, versionText: "14.11", encoding: "LATIN1", readOnly: "on", standby: true}
	for _, want := range []string{"Postgres 14.11, which is too old", "is LATIN1 and must be UTF8", "is a standby"} {
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for version, old := range map[string]bool{"0.8.0": false, "0.8.2": false, "0.10": false, "1.0": false, "0.7.4": true, "0.5": true} {
		if got := vectorTooOld(version); got != old {
			t.Errorf("pgvector %s: too old %v", version, got)
		}
	}
}
