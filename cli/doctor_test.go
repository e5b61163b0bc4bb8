package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/port"
)

// TestDoctor: a deployment without a worker fails only that check.
func TestDoctor(t *testing.T) {
	t.Parallel()
	flags := productionFlags(t, pgtest.New(t).URL)
	got := clitest.Execute(t, "", append([]string{"doctor"}, flags...)...)
	got.Wants(t, command.ExitFailed, "✓ listen", "✗ workers", "→ Start `parlance worker`", "1 failed")
	clitest.Execute(t, "", append([]string{"doctor", "--skip", "work"}, flags...)...).Wants(t, command.ExitDone, "0 failed")

	asJSON := clitest.Execute(t, "", append([]string{"doctor", "--json", "--only", "work"}, flags...)...)
	asJSON.Wants(t, command.ExitFailed)
	var report struct {
		Status   string
		Findings []struct{ Area, Check, Status, Detail, Advice string }
	}
	if err := json.Unmarshal([]byte(asJSON.Out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Status != "failed" || len(report.Findings) == 0 || report.Findings[0].Check != "workers" || report.Findings[0].Advice == "" {
		t.Errorf("got %+v", report)
	}
}

func TestDoctorWithoutSettings(t *testing.T) {
	t.Parallel()
	got := clitest.Execute(t, "", "doctor", "--database-url", "", "--redis-url", "", "--database-max-conns", "many")
	got.Wants(t, command.ExitFailed, "DATABASE_URL is not set", "REDIS_URL is not set", "must be a whole number",
		"PARLANCE_MASTER_KEY_FILE is not set")
	if strings.Contains(got.Out, "\033") {
		t.Error("colours without a terminal")
	}
	clitest.Execute(t, "", "doctor", "--only", "postgers").Wants(t, command.ExitUsage, `no area "postgers"`)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	clitest.Execute(t, "", "health", "--worker").Wants(t, command.ExitUsage, "PARLANCE_WORKER_LISTEN is not set")
	clitest.Execute(t, "", "health", "--listen", port.Reserve(t)).Wants(t, command.ExitFailed, "nothing answers")
	socket := filepath.Join(t.TempDir(), "none.sock")
	clitest.Execute(t, "", "health", "--listen", "unix://"+socket).Wants(t, command.ExitFailed, "nothing answers")
	if _, err := os.Stat(socket); err == nil {
		t.Error("health made a socket")
	}
}
