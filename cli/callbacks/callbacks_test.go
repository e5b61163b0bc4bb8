package callbacks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// start starts a service with a carrier that is not there. No worker runs, so nothing is dialed.
func start(t *testing.T) clitest.Service {
	t.Helper()
	return clitest.Start(t, clitest.Options{Settings: map[string]string{
		"PARLANCE_TWILIO_ACCOUNT_SID": "AC00000000000000000000000000000001", "PARLANCE_TWILIO_AUTH_TOKEN": "token-of-a-test-0123456789",
		"PARLANCE_TWILIO_FROM_NUMBER": "+15005550006", "PARLANCE_TWILIO_BASE_URL": "http://127.0.0.1:1",
	}})
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	w := start(t)
	callbacks := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "callbacks", args[0], args[1:]...)
	}
	callbacks("ls").Wants(t, command.ExitDone, "There is no such callback", "parlance callbacks create")
	callbacks("create").Wants(t, command.ExitUsage, "NUMBER is missing")
	callbacks("create", "+4930123456", "--at", "now", "--in", "5m").Wants(t, command.ExitUsage, "contradict")
	callbacks("create", "+4930123456", "--in", "10s").Wants(t, command.ExitUsage, "at least a minute")
	callbacks("create", "+4930123456", "--var", "order").Wants(t, command.ExitUsage, "is not NAME=VALUE")
	callbacks("create", "030 123456", "--in", "5m").Wants(t, command.ExitFailed, "plan the call")
	callbacks("create", "+49 30 123456", "--in", "90m", "--reason", "The part has come", "--var", "order=7", "--ignore-limits").
		Wants(t, command.ExitDone, "+4930123456  scheduled", "Europe/Berlin", "The part has come", "order=7",
			"user                 +4930123456",
			w.Agent, "operator")
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	soon := time.Now().In(newYork).AddDate(0, 3, 0) // a callback is planned for a year at most
	day, dayAfter, later := soon.Format(time.DateOnly), soon.AddDate(0, 0, 1), soon.AddDate(0, 1, 0).Format(time.DateOnly)
	at := time.Date(soon.Year(), soon.Month(), soon.Day(), 10, 0, 0, 0, newYork)
	planned := callbacks("create", "+12015550123", "--at", day+"T10:00", "--timezone", "America/New_York", "--user", "ada", "--json")
	planned.Wants(t, command.ExitDone)
	made := planned.JSONLines(t)[0]
	id, _ := made["id"].(string)
	if made["at"] != at.UTC().Format(time.RFC3339) || made["user_id"] != "ada" {
		t.Errorf("planned: %v", made)
	}

	callbacks("ls").Wants(t, command.ExitDone, "+12015550123", "+4930123456", "The part has come", id)
	callbacks("ls", "--user", "ada", "--agent", "default", "--status", "scheduled").Wants(t, command.ExitDone, id)
	lines := callbacks("list", "--from", soon.AddDate(0, 0, -1).Format(time.DateOnly), "--until", later+"T00:00", "--json").JSONLines(t)
	if len(lines) != 1 || lines[0]["id"] != id {
		t.Errorf("listed: %v", lines)
	}
	callbacks("ls", "--from", "tomorrow").Wants(t, command.ExitUsage, `--from "tomorrow" is no time`)
	callbacks("show", id).Wants(t, command.ExitDone, at.Format("Mon 2006-01-02 15:04 MST"), "ada")
	callbacks("show", "cb_none").Wants(t, command.ExitFailed, "cb_none", "parlance callbacks ls")

	callbacks("update", id).Wants(t, command.ExitUsage, "nothing is to change")
	callbacks("update", id, "--at", dayAfter.Format(time.DateOnly)+"T11:30", "--reason", "").
		Wants(t, command.ExitDone, dayAfter.Format("Mon 2006-01-02")+" 11:30 ")
	if got := callbacks("update", id, "--number", "+1 201 555 0199", "--json").JSONLines(t)[0]; got["phone_number"] != "+12015550199" {
		t.Errorf("changed: %v", got)
	}
	callbacks("calendar").Wants(t, command.ExitDone, "The part has come", "scheduled")
	callbacks("calendar", "--from", later, "--until", day).Wants(t, command.ExitFailed, "read the calendar")
	if lines := callbacks("calendar", "--from", day, "--json").JSONLines(t); len(lines) != 1 || lines[0]["callback_id"] != id {
		t.Errorf("calendar: %v", lines)
	}
	callbacks("calendar", "--from", "2098-12-01").Wants(t, command.ExitDone, "Nothing is planned")
	callbacks("ics", "--from", day).Wants(t, command.ExitDone, "BEGIN:VCALENDAR", id, "END:VCALENDAR")
	file := filepath.Join(t.TempDir(), "callbacks.ics")
	got := callbacks("ics", "-o", file)
	if got.Code != command.ExitDone || got.Out != "" || !strings.Contains(clitest.ReadFile(t, file), "VEVENT") {
		t.Errorf("wrote %q: %v", clitest.ReadFile(t, file), got)
	}
	callbacks("ics", "-o", file, "--from", later, "--until", day).Wants(t, command.ExitFailed, "write the calendar")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a file that is not complete stays: %v", err)
	}
	callbacks("cancel", id).Wants(t, command.ExitDone, "canceled "+id+" (+12015550199)")
	callbacks("ls", "--status", "canceled").Wants(t, command.ExitDone, id)
	callbacks("cancel", "cb_none").Wants(t, command.ExitFailed, "parlance callbacks ls")
	callbacks("update", id, "--at", "now").Wants(t, command.ExitFailed, "change the callback")
}

func TestConsent(t *testing.T) {
	t.Parallel()
	w := start(t)
	consent := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "callbacks", "consent", args...)
	}
	consent("ada").Wants(t, command.ExitDone, "Nothing is recorded of ada.")
	consent("ada", "--grant", "--refuse").Wants(t, command.ExitUsage, "contradict")
	consent("ada", "--note", "By mail").Wants(t, command.ExitUsage, "--grant or --refuse")
	consent("ada", "--grant", "--note", "By mail").Wants(t, command.ExitDone, "ada agrees to be called.", "By mail")
	consent("ada", "--refuse").Wants(t, command.ExitDone, "ada does not want to be called.")
	if got := consent("ada", "--json").JSONLines(t)[0]; got["granted"] != false || got["recorded_at"] == nil {
		t.Errorf("recorded: %v", got)
	}
	w.Run(t, "", "callbacks", "create", "+4930123456", "--user", "ada", "--in", "5m").Wants(t, command.ExitFailed, "plan the call")
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	w := start(t)
	schedules := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "schedules", args[0], args[1:]...)
	}
	schedules("ls").Wants(t, command.ExitDone, "There is no schedule")
	schedules("create", "+4930123456").Wants(t, command.ExitUsage, "--cron is missing")
	schedules("create", "+4930123456", "--cron", "at nine").Wants(t, command.ExitFailed, "make the schedule: cron: it is no cron expression")
	schedules("create", "+4930123456", "--cron", "@daily", "--timezone", "Berlin", "--starts-at", "2099-01-01").
		Wants(t, command.ExitUsage, "no IANA time zone")
	made := schedules("create", "+49 30 123456", "--cron", "0 9 * * MON", "--timezone", "America/New_York", "--starts-at", "2099-03-01",
		"--ends-at", "2099-06-01T12:00", "--except", "2099-03-16,2099-03-23", "--reason", "The check", "--user", "ada", "--json").JSONLines(t)[0]
	id, _ := made["id"].(string)
	if made["starts_at"] != "2099-03-01T05:00:00Z" || made["ends_at"] != "2099-06-01T16:00:00Z" || len(made["exceptions"].([]any)) != 2 {
		t.Errorf("made: %v", made)
	}
	shown := schedules("show", id)
	shown.Wants(t, command.ExitDone, "Mon 2099-03-02 09:00 EST", "Mon 2099-03-09 09:00 EDT", "Mon 2099-03-30 09:00 EDT", "not on",
		"2099-03-16, 2099-03-23", "The check", "America/New_York")
	if strings.Contains(shown.Out, "Mon 2099-03-16") {
		t.Errorf("runs on a day that is excepted:\n%s", shown.Out)
	}
	if runs := schedules("get", id, "--json").JSONLines(t)[0]["next_runs"].([]any); len(runs) != 10 {
		t.Errorf("next runs: %v", runs)
	}
	schedules("ls", "--user", "ada").Wants(t, command.ExitDone, "Mon 2099-03-02 09:00 EST", "0 9 * * MON", "+4930123456", id)
	schedules("update", id).Wants(t, command.ExitUsage, "nothing is to change")
	schedules("update", id, "--var", "a=b", "--no-vars").Wants(t, command.ExitUsage, "contradict")
	schedules("update", id, "--except", "", "--ends-at", "", "--var", "order=7", "--number", "+4930999999").
		Wants(t, command.ExitDone, "Mon 2099-03-16 09:00 EDT", "order=7", "+4930999999", "The check")
	changed := schedules("update", id, "--enabled=false", "--no-vars", "--cron", "@daily", "--agent", w.Agent, "--json").JSONLines(t)[0]
	if changed["enabled"] != false || changed["cron"] != "@daily" || changed["ends_at"] != nil ||
		len(changed["dynamic_variables"].(map[string]any)) != 0 {
		t.Errorf("changed: %v", changed)
	}
	schedules("ls").Wants(t, command.ExitDone, "disabled")
	schedules("show", "sch_none").Wants(t, command.ExitFailed, "parlance schedules ls")
	schedules("rm", id).Wants(t, command.ExitDone, "deleted "+id)
	schedules("rm", "sch_none").Wants(t, command.ExitFailed, "parlance schedules ls")
}

// TestHelp: what somebody needs to know before the first call.
func TestHelp(t *testing.T) {
	t.Parallel()
	clitest.Execute(t, "", "callbacks", "--help").Wants(t, command.ExitDone,
		"ls", "show", "create", "update", "cancel", "calendar", "ics", "consent")
	clitest.Execute(t, "", "schedules", "--help").Wants(t, command.ExitDone, "ls", "show", "create", "update", "rm")
	clitest.Execute(t, "", "batches", "--help").Wants(t, command.ExitDone,
		"ls", "show", "create", "pause", "resume", "stop", "results")
	clitest.Execute(t, "", "batches", "create", "--help").Wants(t, command.ExitDone, "phone_number,user_id,timezone", "variable", "Examples:")
}
