package callbacks_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/test/clitest"
)

func TestBatches(t *testing.T) {
	t.Parallel()
	w := start(t)
	batches := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "batches", args[0], args[1:]...)
	}
	batches("ls").Wants(t, command.ExitDone, "There is no batch")
	file := filepath.Join(t.TempDir(), "patients.csv")
	clitest.WriteFile(t, file, "\ufeffphone_number;user_id;timezone;name\r\n"+
		"+49 30 123456;ada;Europe/Berlin;Ada\r\n+12015550123;;America/New_York;\"Bob; the other\"\r\n")
	made := batches("create", file, "--window", "09:00-18:00", "--starts-at", "2099-12-01", "--timezone", "Europe/Berlin",
		"--reason", "Tomorrow", "--concurrency", "3", "--json").JSONLines(t)[0]
	id, _ := made["id"].(string)
	if made["name"] != "patients" || made["window_from"] != "09:00" || made["window_until"] != "18:00" || made["concurrency"] != 3.0 ||
		made["starts_at"] != "2099-11-30T23:00:00Z" {
		t.Errorf("made: %v", made)
	}
	planned := w.Run(t, "", "callbacks", "ls", "--batch", id, "--json").JSONLines(t)
	users := map[any]any{}
	for _, one := range planned {
		users[one["user_id"]] = one["dynamic_variables"].(map[string]any)["name"]
	}
	if len(users) != 2 || users["ada"] != "Ada" || users["+12015550123"] != "Bob; the other" {
		t.Errorf("planned: %v", planned)
	}
	batches("show", id).Wants(t, command.ExitDone, "patients  running", "0 of 2 over, 2 scheduled",
		"09:00–18:00", "Tomorrow", "calls at once        3")
	batches("pause", id).Wants(t, command.ExitDone, "patients  paused")
	batches("resume", id, "--json").Wants(t, command.ExitDone, `"status":"running"`)
	batches("results", id).Wants(t, command.ExitDone, "callback_id,phone_number,user_id,status", "ada", "scheduled")
	batches("stop", id).Wants(t, command.ExitDone, "patients  stopped", "2 of 2 over, 2 canceled")
	batches("show", id, "--watch").Wants(t, command.ExitDone, "patients  stopped")
	batches("ls").Wants(t, command.ExitDone, "stopped", "2/2", "patients", id)
	batches("resume", id).Wants(t, command.ExitFailed, "resume the batch")
	batches("show", "bat_none").Wants(t, command.ExitFailed, "parlance batches ls")
	batches("results", "bat_none").Wants(t, command.ExitFailed, "parlance batches ls")
	w.Run(t, "phone_number,order\n+4930123456,7\n", "batches", "create", "-", "--name", "Piped").Wants(t, command.ExitDone, "Piped  running")
	w.Run(t, "phone_number\n+4930123456\n", "batches", "create", "-").Wants(t, command.ExitUsage, "--name is missing")
	batches("create", file, "--window", "nine").Wants(t, command.ExitUsage, "09:00-18:00")
}

// TestRecipientFiles: what is wrong with a file is said with its line.
func TestRecipientFiles(t *testing.T) {
	t.Parallel()
	s := clitest.Service{DataDir: t.TempDir()}
	clitest.WriteFile(t, filepath.Join(s.DataDir, command.EnvFile), command.EnvBaseURL+"=http://127.0.0.1:1/v1\n"+
		command.EnvAPIKey+"=prl_x\n"+command.EnvWorkspace+"=ws_1\n"+command.EnvAgent+"=agt_1\n")
	for file, want := range map[string]string{
		"":                              "it is empty",
		"phone_number\n":                "nobody is to be called",
		"number,user_id\n1,2\n":         "has no phone_number; it has number, user_id",
		"phone_number,a,a\n":            "two columns a",
		"phone_number,\n+49301,\n":      "column 2 has no name",
		"phone_number,a\n+4930123456\n": "wrong number of fields",
	} {
		s.Run(t, file, "batches", "create", "-", "--name", "x").Wants(t, command.ExitUsage, "-: ", want)
	}
	s.Run(t, "", "batches", "create", "none.csv").Wants(t, command.ExitUsage, "none.csv")
}

// TestBadRecipients: what the service refuses is said with its line, all of it at once.
func TestBadRecipients(t *testing.T) {
	t.Parallel()
	w := start(t)
	got := w.Run(t, "phone_number,user_id,timezone,note\n+4930123456,ada,,\"two\nlines\"\n030 123456,bob,,\n"+
		"+12015550123,carol,Mars/Base,\n030 123457,"+strings.Repeat("x", 300)+",Mars/Base,\n+49 30 123456,ada,,\n",
		"batches", "create", "-", "--name", "x", "--window", "09:00-09:00")
	got.Wants(t, command.ExitUsage, "-: window_until: Give both", "\nline 4: phone_number: This is no telephone number",
		"\nline 5: timezone must be", "\nline 6: phone_number: This is no", "\nline 6: timezone must be", "\nline 6: user_id must have",
		"\nline 7: phone_number: This is line 2 again.")
	w.Run(t, "phone_number\n+4930123456\n", "batches", "create", "-", "--name", "x", "--window", "09:00-09:00").
		Wants(t, command.ExitFailed, "make the batch: window_until: Give both")
}

// progress is a batch that is a step further each time that somebody looks.
type progress struct {
	parlancev1connect.UnimplementedCallbackServiceHandler

	mu    sync.Mutex
	steps []*parlancev1.CallbackBatchProgress
}

func (p *progress) GetCallbackBatch(_ context.Context, req *parlancev1.GetCallbackBatchRequest) (*parlancev1.CallbackBatch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	batch := &parlancev1.CallbackBatch{Id: req.GetBatchId(), Name: "Reminders", Status: "running", Progress: p.steps[0]}
	if p.steps = p.steps[1:]; len(p.steps) == 0 {
		batch.Status = "completed"
	}
	return batch, nil
}

func TestWatch(t *testing.T) {
	t.Parallel()
	p := &progress{steps: []*parlancev1.CallbackBatchProgress{
		{Total: 2, Scheduled: 2}, {Total: 2, Scheduled: 1, InProgress: 1}, {Total: 2, Completed: 1, NoAnswer: 1},
	}}
	path, handler := parlancev1connect.NewCallbackServiceHandler(p)
	w := clitest.Start(t, clitest.Options{Between: func(http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle(path, handler)
		return mux
	}})
	w.Run(t, "", "batches", "show", "bat_1", "--watch").Wants(t, command.ExitDone, "running: 0 of 2 over, 2 scheduled\n",
		"running: 0 of 2 over, 1 in progress, 1 scheduled\n", "Reminders  completed  bat_1", "2 of 2 over, 1 completed, 1 no answer")
}
