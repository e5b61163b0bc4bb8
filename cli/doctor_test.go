package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/port"
)

// TestDoctor: a deployment without a worker fails for it, and for nothing else.
func TestDoctor(t *testing.T) {
	t.Parallel()
	flags := productionFlags(t, pgtest.New(t).URL)
	got := execute(t, "", append([]string{"doctor"}, flags...)...)
	got.wants(t, exitFailed, "✓ listen", "✗ workers", "→ Start `parlance worker`", "1 failed")
	execute(t, "", append([]string{"doctor", "--skip", "work"}, flags...)...).wants(t, exitDone, "0 failed")

	asJSON := execute(t, "", append([]string{"doctor", "--json", "--only", "work"}, flags...)...)
	asJSON.wants(t, exitFailed)
	var report struct {
		Status   string
		Findings []struct{ Area, Check, Status, Detail, Advice string }
	}
	if err := json.Unmarshal([]byte(asJSON.out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Status != "failed" || len(report.Findings) == 0 || report.Findings[0].Check != "workers" || report.Findings[0].Advice == "" {
		t.Errorf("got %+v", report)
	}
}

func TestDoctorWithoutSettings(t *testing.T) {
	t.Parallel()
	got := execute(t, "", "doctor", "--database-url", "", "--redis-url", "", "--database-max-conns", "many")
	got.wants(t, exitFailed, "DATABASE_URL is not set", "REDIS_URL is not set", "must be a whole number", "PARLANCE_MASTER_KEY_FILE is not set")
	if strings.Contains(got.out, "\033") {
		t.Error("colours without a terminal")
	}
	execute(t, "", "doctor", "--only", "postgers").wants(t, exitUsage, `no area "postgers"`)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	execute(t, "", "health", "--worker").wants(t, exitUsage, "PARLANCE_WORKER_LISTEN is not set")
	execute(t, "", "health", "--listen", port.Reserve(t)).wants(t, exitFailed, "nothing answers")
	socket := filepath.Join(t.TempDir(), "none.sock")
	execute(t, "", "health", "--listen", "unix://"+socket).wants(t, exitFailed, "nothing answers")
	if _, err := os.Stat(socket); err == nil {
		t.Error("health made a socket")
	}
}
