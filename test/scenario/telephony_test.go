package scenario

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/test/harness"
)

// calling is an installation with a carrier, and an agent that may call at any time.
type calling struct {
	*harness.Env
	board *simulated.Switchboard
	agent string
}

func newCalling(t *testing.T) calling {
	t.Helper()
	settings, board := harness.Switchboard(t)
	harness.BusyPhone(board, busyNumber)
	env := harness.Start(t, harness.Options{Settings: settings})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"),
		`{"name":"Ada","callbacks":{"quiet_from":"00:00","quiet_until":"00:00","min_interval_minutes":0}}`).Must(t, 201).Text("id")
	return calling{env, board, agent}
}

// in is a path in the tenant's workspace.
func (c calling) in(path string) string { return c.Tenant.In(path) }

// plan is the body of a callback, schedule or batch, with more members.
func (c calling) plan(more string) string {
	return `{"agent_id":"` + c.agent + `",` + more + `}`
}

// who is called.
const who = `"user_id":"u","phone_number":"+1 (201) 555-0123"`

// atOnce is a call to them now.
const atOnce = who + `,"at":"now"`

// restRow is a request, and what is answered.
type restRow struct {
	method, path, body string
	status             int
	// code is that of a problem; fields are among those of its errors.
	code  string
	field string
}

// check makes the requests in their order.
func (c calling) check(t *testing.T, rows []restRow) {
	t.Helper()
	for _, row := range rows {
		var body any
		if row.body != "" {
			body = row.body
		}
		got := c.Do(t, row.method, row.path, body)
		if got.Status != row.status || got.Code() != row.code {
			t.Errorf("%s %s %s: got %d %s", row.method, row.path, row.body, got.Status, got.Body)
		}
		if row.field != "" && !strings.Contains(string(got.Body), `"field":"`+row.field+`"`) {
			t.Errorf("%s %s %s does not name %s: %s", row.method, row.path, row.body, row.field, got.Body)
		}
	}
}

// TestCallbacksOverREST plans, changes, lists and cancels callbacks, and dials one that nobody
// takes.
func TestCallbacksOverREST(t *testing.T) {
	t.Parallel()
	c := newCalling(t)
	made := c.Do(t, "POST", c.in("/callbacks"), c.plan(who+`,"in_minutes":60,"reason":"The order."`)).Must(t, 201)
	one := c.in("/callbacks/" + made.Text("id"))
	if made.Text("status") != "scheduled" || made.Text("phone_number") != busyNumber || made.Text("created_by") != "operator" ||
		made.Text("timezone") != "America/New_York" || made.Header.Get("Location") != c.URL+one {
		t.Errorf("made %s %s", made.Header.Get("Location"), made.Body)
	}
	c.check(t, []restRow{
		{"POST", c.in("/callbacks"), c.plan(`"user_id":"u","phone_number":"12"`), 400, "invalid-request", "phone_number"},
		{"POST", c.in("/callbacks"), c.plan(who + `,"at":"soon"`), 400, "invalid-request", "at"},
		{"POST", c.in("/callbacks"), c.plan(who + `,"at":"2001-01-01T09:00"`), 400, "invalid-request", "at"},
		{"POST", c.in("/callbacks"), c.plan(who), 400, "invalid-request", "at"},
		{"POST", c.in("/callbacks"), c.plan(who + `,"at":""`), 400, "invalid-request", "at"},
		{"POST", c.in("/callbacks"), c.plan(atOnce + `,"timezone":"Mars/Base"`), 400, "invalid-request", "timezone"},
		{"POST", c.in("/callbacks"), c.plan(atOnce + `,"timezone":"posix/UTC"`), 400, "invalid-request", "timezone"},
		{"POST", c.in("/callbacks"), c.plan(atOnce + `,"dynamic_variables":{"secret__pin":"1"}`), 400, "invalid-request", "dynamic_variables"},
		{"POST", c.in("/callbacks"), `{"agent_id":"agt_none",` + atOnce + `}`, 404, "not-found", ""},
		{"GET", c.in("/callbacks/cb_none"), "", 404, "not-found", ""},
		{"PATCH", one, `{"at":"2001-01-01T09:00"}`, 400, "invalid-request", "at"},
		{"PATCH", one, `{"reason":"Another order.","timezone":"Europe/Berlin"}`, 200, "", ""},
		{"GET", c.in("/callbacks?status=late"), "", 400, "invalid-request", "status"},
		{"GET", c.in("/callbacks/calendar?from=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00Z"), "", 400, "invalid-request", "until"},
	})
	if got := c.Do(t, "GET", one, nil).Must(t, 200); got.Text("reason") != "Another order." || got.Text("timezone") != "Europe/Berlin" {
		t.Errorf("changed %s", got.Body)
	}
	for query, want := range map[string]int{
		"": 1, "?status=scheduled": 1, "?status=canceled": 0, "?user_id=u": 1, "?user_id=v": 0, "?agent_id=" + c.agent: 1, "?batch_id=bat_x": 0,
	} {
		if got := c.Do(t, "GET", c.in("/callbacks"+query), nil).Must(t, 200).List("callbacks"); len(got) != want {
			t.Errorf("%q lists %v", query, got)
		}
	}
	calendar := c.Do(t, "GET", c.in("/callbacks/calendar"), nil).Must(t, 200)
	if calendar.Text("entries", 0, "callback_id") != made.Text("id") || len(calendar.List("entries")) != 1 {
		t.Errorf("calendar %s", calendar.Body)
	}
	for range 2 { // repeating it changes nothing
		if got := c.Do(t, "POST", one+"/cancel", nil).Must(t, 200); got.Text("status") != "canceled" || got.Text("ended_at") == "" {
			t.Errorf("canceled %s", got.Body)
		}
	}
	c.check(t, []restRow{{"PATCH", one, `{"reason":"x"}`, 409, "callback-not-scheduled", ""}})

	dialed := c.Do(t, "POST", c.in("/callbacks"), c.plan(atOnce)).Must(t, 201).Text("id")
	var after harness.Response
	harness.Await(t, harness.Patience, "a call that nobody took", func() bool {
		after = c.Do(t, "GET", c.in("/callbacks/"+dialed), nil).Must(t, 200)
		return after.Text("status") == "scheduled" && after.Text("attempts", 0, "status") == "busy"
	})
	call := c.in("/calls/" + after.Text("attempts", 0, "call_id"))
	got := c.Do(t, "GET", call, nil).Must(t, 200)
	if got.Text("direction") != "outbound" || got.Text("from") != harness.SwitchboardFrom || got.Text("to") != busyNumber ||
		got.Text("callback_id") != dialed || got.Text("end_reason") != "busy" || got.Text("answered_at") != "" {
		t.Errorf("the call is %s", got.Body)
	}
	for query, want := range map[string]int{
		"": 1, "?status=busy": 1, "?status=ringing": 0, "?direction=inbound": 0, "?user_id=u": 1, "?agent_id=agt_x": 0,
	} {
		if got := c.Do(t, "GET", c.in("/calls"+query), nil).Must(t, 200).List("calls"); len(got) != want {
			t.Errorf("%q lists %v", query, got)
		}
	}
	c.check(t, []restRow{
		{"POST", call + "/transfer", `{"to":"+12015550199"}`, 409, "call-not-in-progress", ""},
		{"POST", call + "/transfer", `{"to":"12"}`, 400, "invalid-request", "to"},
		{"POST", call + "/transfer", `{"to":"+12015550199","mode":"hot"}`, 400, "invalid-request", "mode"},
		{"POST", call + "/hang-up", "", 200, "", ""},
		{"GET", c.in("/calls/pcl_none"), "", 404, "not-found", ""},
	})
}

// TestCallLimitsOverREST: quiet hours, countries and consent refuse calls, and say when they may
// be.
func TestCallLimitsOverREST(t *testing.T) {
	t.Parallel()
	c := newCalling(t)
	settings := func(callbacks string) {
		c.Do(t, "PATCH", c.in("/agents/"+c.agent), `{"callbacks":`+callbacks+`}`).Must(t, 200)
	}
	settings(`{"quiet_from":"00:00","quiet_until":"23:59","min_interval_minutes":0}`)
	noon := time.Now().AddDate(0, 0, 2).Format("2006-01-02") + "T12:00"
	quiet := c.Do(t, "POST", c.in("/callbacks"), c.plan(who+`,"at":"`+noon+`"`))
	checkProblem(t, quiet, 409, "callback-not-allowed")
	if !strings.Contains(quiet.Problem.Detail, "23:59") {
		t.Errorf("it does not say when: %s", quiet.Body)
	}
	c.check(t, []restRow{{"POST", c.in("/callbacks"), c.plan(who + `,"ignore_limits":true,"at":"` + noon + `"`), 201, "", ""}})
	settings(`{"quiet_from":"00:00","quiet_until":"00:00","min_interval_minutes":0,"countries":["DE"]}`)
	c.check(t, []restRow{{"POST", c.in("/callbacks"), c.plan(atOnce), 409, "callback-not-allowed", ""}})
	settings(`{"quiet_from":"00:00","quiet_until":"00:00","min_interval_minutes":0,"countries":[],"require_consent":true}`)
	consent := c.in("/users/u/call-consent")
	if got := c.Do(t, "GET", consent, nil).Must(t, 200); got.At("recorded_at") != nil || got.At("granted") != false {
		t.Errorf("nothing is recorded: %s", got.Body)
	}
	c.check(t, []restRow{
		{"POST", c.in("/callbacks"), c.plan(who + `,"in_minutes":60`), 409, "callback-not-allowed", ""},
		{"POST", consent, `{"granted":true,"note":"Asked on the phone."}`, 200, "", ""},
		{"POST", c.in("/callbacks"), c.plan(who + `,"in_minutes":60`), 201, "", ""},
		{"POST", consent, `{"granted":false}`, 200, "", ""},
		{"POST", c.in("/callbacks"), c.plan(who + `,"in_minutes":60,"ignore_limits":true`), 409, "callback-not-allowed", ""},
	})
	if got := c.Do(t, "GET", consent, nil).Must(t, 200); got.At("granted") != false || got.Text("recorded_at") == "" {
		t.Errorf("recorded %s", got.Body)
	}
}

// TestCallbackSchedulesOverREST: calls that repeat, in lists and in the calendar file.
func TestCallbackSchedulesOverREST(t *testing.T) {
	t.Parallel()
	c := newCalling(t)
	path := c.in("/callback-schedules")
	starts := time.Now().AddDate(0, 0, 7).UTC().Format(time.RFC3339)
	made := c.Do(t, "POST", path, c.plan(who+`,"cron":"0 9 * * *","starts_at":"`+starts+`","reason":"How are you?"`)).Must(t, 201)
	one := path + "/" + made.Text("id")
	if len(made.List("next_runs")) != 10 || made.At("enabled") != true || made.Header.Get("Location") != c.URL+one {
		t.Errorf("made %s", made.Body)
	}
	c.check(t, []restRow{
		{"POST", path, c.plan(who + `,"cron":"hello"`), 400, "invalid-request", "cron"},
		{"POST", path, c.plan(who + `,"cron":"0 9 30 2 *"`), 400, "invalid-request", "cron"},
		{"POST", path, c.plan(who + `,"cron":"0 9 * * *","exceptions":["today"]`), 400, "invalid-request", "exceptions[0]"},
		{"POST", path, `{"agent_id":"agt_none",` + who + `,"cron":"0 9 * * *"}`, 404, "not-found", ""},
		{"PATCH", one, `{"cron":null}`, 400, "invalid-request", "cron"},
		{"PATCH", one, `{"cron":"30 10 * * *","timezone":"Europe/Berlin","reason":null}`, 200, "", ""},
		{"GET", path + "?user_id=u", "", 200, "", ""},
		{"GET", path + "/sch_none", "", 404, "not-found", ""},
	})
	changed := c.Do(t, "GET", one, nil).Must(t, 200)
	if changed.Text("cron") != "30 10 * * *" || changed.Text("reason") != "" || changed.Text("starts_at") == "" {
		t.Errorf("changed %s", changed.Body)
	}
	if got := c.Do(t, "GET", path, nil).Must(t, 200); len(got.List("schedules")) != 1 {
		t.Errorf("list %s", got.Body)
	}
	file := c.Do(t, "GET", c.in("/callbacks.ics"), nil, harness.Key(c.Tenant.Read)).Must(t, 200)
	first, _ := time.Parse(time.RFC3339, changed.Text("next_runs", 0))
	if got := file.Header.Get("Content-Type"); got != "text/calendar; charset=utf-8" {
		t.Errorf("Content-Type %s", got)
	}
	starts = "DTSTART:" + first.UTC().Format("20060102T150405Z") + "\r\n"
	for _, part := range []string{"BEGIN:VCALENDAR\r\n", "UID:" + made.Text("id"), starts} {
		if !strings.Contains(string(file.Body), part) {
			t.Errorf("no %q in %s", part, file.Body)
		}
	}
	c.check(t, []restRow{
		{"GET", c.in("/callbacks.ics?from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z"), "", 200, "", ""},
		{"GET", c.in("/callbacks.ics?from=today"), "", 400, "invalid-request", "from"},
		{"GET", c.in("/callbacks.ics?colour=red"), "", 400, "invalid-request", "colour"},
		{"PATCH", one, `{"enabled":false}`, 200, "", ""},
		{"DELETE", one, "", 204, "", ""},
		{"DELETE", one, "", 204, "", ""},
		{"GET", one, "", 404, "not-found", ""},
	})
}

// TestCallbackBatchesOverREST: calls to many numbers, their progress and results.
func TestCallbackBatchesOverREST(t *testing.T) {
	t.Parallel()
	c := newCalling(t)
	path := c.in("/callback-batches")
	later := time.Now().AddDate(0, 0, 7).UTC().Format(time.RFC3339)
	two := `"recipients":[{"phone_number":"+1 201 555 0123","user_id":"=u"},{"phone_number":"+12015550124"}]`
	made := c.Do(t, "POST", path, c.plan(`"name":"Autumn","starts_at":"`+later+`",`+two)).Must(t, 201)
	one := path + "/" + made.Text("id")
	if made.Text("status") != "running" || made.At("progress", "total") != 2.0 || made.At("progress", "scheduled") != 2.0 ||
		made.At("concurrency") != 5.0 || made.Header.Get("Location") != c.URL+one {
		t.Errorf("made %s", made.Body)
	}
	bad := c.Do(t, "POST", path, c.plan(`"name":"n","recipients":[{"phone_number":"+12015550123"},{"phone_number":"12"}]`))
	checkProblem(t, bad, 400, "invalid-request")
	c.check(t, []restRow{
		{"POST", path, c.plan(`"name":"n","recipients":[{"phone_number":"12"}]`), 400, "invalid-request", "recipients[0].phone_number"},
		{"POST", path, c.plan(`"name":"n","recipients":[]`), 400, "invalid-request", "recipients"},
		{"POST", path, c.plan(`"name":"n","window_from":"09:00",` + two), 400, "invalid-request", "window_until"},
		{"POST", path, c.plan(`"name":"n","window_from":"25:00",` + two), 400, "invalid-request", "window_from"},
		{"POST", one + "/control", `{"action":"explode"}`, 400, "invalid-request", "action"},
		{"POST", one + "/control", `{"action":"pause"}`, 200, "", ""},
		{"POST", one + "/control", `{"action":"pause"}`, 200, "", ""},
		{"POST", one + "/control", `{"action":"resume"}`, 200, "", ""},
		{"POST", one + "/control", `{"action":"stop"}`, 200, "", ""},
		{"POST", one + "/control", `{"action":"stop"}`, 200, "", ""},
		{"POST", one + "/control", `{"action":"resume"}`, 409, "callback-batch-over", ""},
		{"GET", path + "/bat_none", "", 404, "not-found", ""},
		{"GET", one + "/results.csv?x=1", "", 400, "invalid-request", "x"},
		{"GET", path + "/bat_none/results.csv", "", 404, "not-found", ""},
	})
	if got := c.Do(t, "GET", one, nil).Must(t, 200); got.Text("status") != "stopped" || got.At("progress", "canceled") != 2.0 {
		t.Errorf("stopped %s", got.Body)
	}
	if got := c.Do(t, "GET", path, nil).Must(t, 200); len(got.List("batches")) != 1 {
		t.Errorf("list %s", got.Body)
	}
	results := one + "/results.csv"
	checkProblem(t, c.Do(t, "GET", results, nil, harness.Key(c.Tenant.Read)), 403, "auth-scope")
	file := c.Do(t, "GET", results, nil).Must(t, 200)
	lines, err := csv.NewReader(strings.NewReader(string(file.Body))).ReadAll()
	if err != nil || len(lines) != 3 || lines[0][0] != "callback_id" || lines[1][2] != "'=u" || lines[1][3] != "canceled" ||
		lines[2][1] != "+12015550124" || file.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("results %v %v", lines, err)
	}
}

// TestPhoneNumbersOverREST: a number of the carrier's account is set up there to call the service.
func TestPhoneNumbersOverREST(t *testing.T) {
	t.Parallel()
	c := newCalling(t)
	path := c.in("/phone-numbers")
	made := c.Do(t, "POST", path, c.plan(`"phone_number":"`+harness.SwitchboardFirst+`","name":"Desk"`)).Must(t, 201)
	one := path + "/" + made.Text("id")
	if made.At("configured") != true || made.Text("configure_url") != c.URL+"/v1/telephony/twilio/numbers/"+made.Text("id") ||
		made.Text("lookup_secret") == "" || made.Header.Get("Location") != c.URL+one {
		t.Errorf("made %s", made.Body)
	}
	c.check(t, []restRow{
		{"POST", path, c.plan(`"phone_number":"` + harness.SwitchboardFirst + `"`), 409, "name-taken", "phone_number"},
		{"POST", path, c.plan(`"phone_number":"+15005550199"`), 400, "invalid-request", "phone_number"}, // not the account's
		{"POST", path, c.plan(`"phone_number":"12"`), 400, "invalid-request", "phone_number"},
		{"POST", path, `{"agent_id":"agt_none","phone_number":"` + harness.SwitchboardOther + `"}`, 404, "not-found", "agent_id"},
		{"PATCH", one, `{"lookup_url":"http://example.com/"}`, 400, "webhook-url-not-https", "lookup_url"},
		{"PATCH", one, `{"name":"Reception","enabled":false}`, 200, "", ""},
		{"GET", path + "/num_none", "", 404, "not-found", ""},
	})
	got := c.Do(t, "GET", one, nil).Must(t, 200)
	if got.Text("name") != "Reception" || got.At("enabled") != false || got.Text("lookup_secret") != "" {
		t.Errorf("changed %s", got.Body)
	}
	rotated := c.Do(t, "POST", one+"/rotate-secret", nil).Must(t, 200)
	if fresh := rotated.Text("lookup_secret"); fresh == "" || fresh == made.Text("lookup_secret") {
		t.Errorf("rotated %s", rotated.Body)
	}
	if got := c.Do(t, "GET", path, nil).Must(t, 200); len(got.List("phone_numbers")) != 1 {
		t.Errorf("list %s", got.Body)
	}
	c.check(t, []restRow{{"DELETE", one, "", 204, "", ""}, {"DELETE", one, "", 204, "", ""}, {"GET", one, "", 404, "not-found", ""}})
}

// TestWithoutCarrier: what needs a carrier says that there is none. A workspace may bring its own.
func TestWithoutCarrier(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	c := calling{Env: env, agent: agent}
	number := c.plan(`"phone_number":"` + harness.SwitchboardFirst + `"`)
	c.check(t, []restRow{
		{"POST", c.in("/callbacks"), c.plan(atOnce), 409, "provider-not-configured", ""},
		{"POST", c.in("/callback-schedules"), c.plan(who + `,"cron":"0 9 * * *"`), 409, "provider-not-configured", ""},
		{
			"POST", c.in("/callback-batches"), c.plan(`"name":"n","recipients":[{"phone_number":"+12015550123"}]`), 409,
			"provider-not-configured", "",
		},
		{"POST", c.in("/phone-numbers"), number, 409, "provider-not-configured", ""},
		{"GET", c.in("/calls"), "", 200, "", ""},
		{"GET", c.in("/callbacks/calendar"), "", 200, "", ""},
	})
	settings, _ := harness.Switchboard(t)
	own := map[string]string{
		"kind": "telephony", "provider": "twilio", "account_id": settings["PARLANCE_TWILIO_ACCOUNT_SID"], "api_key": "another-token",
		"base_url": settings["PARLANCE_TWILIO_BASE_URL"],
	}
	credential := c.in("/provider-credentials/" + c.Do(t, "POST", c.in("/provider-credentials"), own).Must(t, 201).Text("id"))
	if got := c.Do(t, "POST", credential+"/test", nil).Must(t, 200); got.At("ok") != false {
		t.Errorf("tried with another token: %s", got.Body)
	}
	c.Do(t, "PATCH", credential, map[string]string{
		"api_key": settings["PARLANCE_TWILIO_AUTH_TOKEN"], "base_url": own["base_url"],
	}).Must(t, 200)
	if got := c.Do(t, "POST", credential+"/test", nil).Must(t, 200); got.At("ok") != true {
		t.Errorf("tried: %s", got.Body)
	}
	c.check(t, []restRow{
		{"POST", c.in("/callbacks"), c.plan(atOnce), 409, "provider-not-configured", ""}, // no number to call from
		{"POST", c.in("/phone-numbers"), number, 201, "", ""},
		{"POST", c.in("/callbacks"), c.plan(atOnce + `,"ignore_limits":true`), 201, "", ""},
	})
}
