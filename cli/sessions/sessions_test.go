package sessions_test

import (
	"net/http"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// TestSessions looks at a session with one turn, and ends it.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	sessions := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "sessions", args[0], args[1:]...)
	}
	sessions("ls").Wants(t, command.ExitDone, "There is no such session")
	body := `{"agent_id": "` + w.Agent + `", "user_id": "ada", "modality": "text"}`
	id := w.Env.Do(t, http.MethodPost, "/v1/sessions", body).Must(t, http.StatusCreated).Text("id")
	turn := w.Env.Do(t, http.MethodPost, "/v1/sessions/"+id+"/turns", `{"text": "Hello there"}`).Must(t, http.StatusOK).Text("turn_id")

	sessions("ls", "--user", "ada", "--since", "1h").Wants(t, command.ExitDone, "in_progress", id, w.Agent)
	sessions("ls", "--user", "bob").Wants(t, command.ExitDone, "There is no such session")
	sessions("ls", "--agent", "default", "--json").Wants(t, command.ExitDone, id)
	sessions("show", id).Wants(t, command.ExitDone, "ada", "version 1", "longest silence ", " 1800 s")
	got := sessions("get", id, "--json").JSONLines(t)[0]
	if got["idle_timeout_seconds"] != 1800.0 || got["max_duration_seconds"].(float64) <= 0 {
		t.Errorf("the limits are %v and %v", got["idle_timeout_seconds"], got["max_duration_seconds"])
	}
	sessions("transcript", id).Wants(t, command.ExitDone, "Hello there", turn, "agent")
	if lines := sessions("transcript", id, "--json").JSONLines(t); len(lines) != 1 || lines[0]["user_text"] != "Hello there" {
		t.Errorf("transcript %v", lines)
	}
	sessions("receipt", id, turn).Wants(t, command.ExitDone, `"turn_id": "`+turn+`"`)
	if lines := sessions("receipts", id, "--json").JSONLines(t); len(lines) != 1 || lines[0]["turn_id"] != turn {
		t.Errorf("receipts %v", lines)
	}
	sessions("end", id, "--reason", "by support").Wants(t, command.ExitDone, "completed: by support")
	sessions("transcript", "ses_none").Wants(t, command.ExitFailed, "parlance sessions ls")
	sessions("receipt").Wants(t, command.ExitUsage, "SESSION is missing")
}
