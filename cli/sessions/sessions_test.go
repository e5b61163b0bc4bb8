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

// TestHandover takes a conversation over, writes to the user, and gives it back.
func TestHandover(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	sessions := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "sessions", args[0], args[1:]...)
	}
	body := `{"agent_id": "` + w.Agent + `", "user_id": "ada", "modality": "text"}`
	id := w.Env.Do(t, http.MethodPost, "/v1/sessions", body).Must(t, http.StatusCreated).Text("id")
	sessions("ls", "--handover", "operator").Wants(t, command.ExitDone, "There is no such session")
	sessions("ls", "--handover", "nobody").Wants(t, command.ExitFailed, "handover")
	sessions("say", id, "too early").Wants(t, command.ExitFailed, "write to the user")
	sessions("take-over", id, "--as", "Grace").Wants(t, command.ExitDone, "Grace has the conversation with ada",
		"parlance sessions release "+id)
	sessions("take-over", id, "--as", "Bob").Wants(t, command.ExitFailed, "take the conversation over")
	if got := sessions("take-over", id, "--as", "Grace", "--json").JSONLines(t)[0]["handover"].(map[string]any); got["operator"] != "Grace" {
		t.Errorf("taken over: %v", got)
	}
	sessions("ls", "--handover", "operator").Wants(t, command.ExitDone, id, "in_progress, with Grace")
	sessions("show", id).Wants(t, command.ExitDone, "person", "Grace", "taken over at")
	sessions("say", id, "I have", "found it.").Wants(t, command.ExitDone, "said (")
	lines := w.Run(t, "One more.\n\nAnd a last one.\n", "sessions", "say", id, "--json").JSONLines(t)
	if len(lines) != 2 || lines[0]["operator_text"] != "One more." || lines[1]["operator_text"] != "And a last one." {
		t.Errorf("said %v", lines)
	}
	sessions("transcript", id).Wants(t, command.ExitDone, "I have found it.", "And a last one.")
	sessions("release", id, "--note", "It is found.").Wants(t, command.ExitDone, "The agent has the conversation with ada.")
	if got := sessions("release", id, "--json").JSONLines(t)[0]; got["handover"] != nil {
		t.Errorf("given back: %v", got["handover"])
	}
	sessions("release", "ses_none").Wants(t, command.ExitFailed, "parlance sessions ls")
	sessions("say").Wants(t, command.ExitUsage, "SESSION is missing")
}
