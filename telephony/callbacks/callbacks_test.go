package callbacks_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// TestLife: a callback is dialed when it is due, has a session when it is answered, and completes.
func TestLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "2026-01-13T11:00") // 16:00 UTC
	f.work(t)
	if f.line.calls() != 0 {
		t.Fatal("it is dialed before its time")
	}
	f.clock.set(time.Date(2026, 1, 13, 16, 0, 1, 0, time.UTC))
	f.work(t)
	f.want(t, made.ID, callbacks.Dialing, "")
	if p := f.line.placed[0]; p.To != "+12015550123" || p.From != "+12015550100" || p.Ring != 30*time.Second ||
		!strings.HasPrefix(p.AnswerURL, "http://parlance.test/v1/telephony/line/calls/pcl_") || p.MachineURL == "" {
		t.Errorf("placed %+v", p)
	}
	f.answer(t, made.ID)
	f.answer(t, made.ID) // carriers repeat themselves
	talking := f.want(t, made.ID, callbacks.InProgress, "")
	session, err := f.sessions.Get(t.Context(), workspaces.Principal{TenantID: f.ref.TenantID}, talking.SessionID)
	if err != nil || session.UserID != "u" || !session.OnTelephone {
		t.Errorf("its session is %+v (%v)", session, err)
	}
	f.clock.advance(61 * time.Second)
	f.status(t, made.ID, carrier.Completed)
	f.status(t, made.ID, carrier.Ringing) // late
	f.status(t, made.ID, carrier.Completed)
	got := f.get(t, made.ID)
	if len(got.Calls) != 1 || got.Calls[0].DurationSeconds != 61 || got.Calls[0].PSTNMinutes != 2 || got.Attempts != 1 {
		t.Errorf("%d attempts, calls %+v", got.Attempts, got.Calls)
	}
	var minutes int
	err = f.db.NewRaw("SELECT sum(quantity) FROM usage_records WHERE meter = 'pstn_minutes' AND tenant_id = ?", f.ref.TenantID).
		Scan(t.Context(), &minutes)
	if err != nil || minutes != 2 {
		t.Errorf("%d minutes were counted (%v)", minutes, err)
	}
}

// TestMissed: tried three times in all, 30 and 60 minutes apart.
func TestMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	for attempt, status := range []carrier.Status{carrier.NoAnswer, carrier.Busy, carrier.NoAnswer} {
		f.work(t)
		if f.line.calls() != attempt+1 {
			t.Fatalf("attempt %d: %d calls", attempt+1, f.line.calls())
		}
		f.status(t, made.ID, status)
		if attempt == 2 {
			break
		}
		waiting := f.want(t, made.ID, callbacks.Scheduled, "")
		wait := []time.Duration{30 * time.Minute, 60 * time.Minute}[attempt]
		if waiting.DueAt.Sub(f.clock.now()) != wait || !waiting.At.Equal(made.At) {
			t.Errorf("attempt %d: the next one is in %s", attempt+1, waiting.DueAt.Sub(f.clock.now()))
		}
		f.clock.advance(wait - time.Second)
		f.work(t)
		if f.line.calls() != attempt+1 {
			t.Fatal("it is dialed before its time")
		}
		f.clock.advance(time.Second)
	}
	f.want(t, made.ID, callbacks.NoAnswer, telephony.EndNoAnswer)
	f.clock.advance(48 * time.Hour)
	f.work(t)
	if f.line.calls() != 3 {
		t.Errorf("%d calls", f.line.calls())
	}
}

// TestRetryWaits: a retry that falls into quiet hours waits for the morning.
func TestRetryWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.clock.set(time.Date(2026, 1, 14, 1, 45, 0, 0, time.UTC)) // 20:45 in New York
	made := f.plan(t, "u", "now")
	f.work(t)
	f.status(t, made.ID, carrier.NoAnswer)
	f.clock.advance(31 * time.Minute)
	f.work(t)
	waiting := f.want(t, made.ID, callbacks.Scheduled, "")
	if want := time.Date(2026, 1, 14, 13, 0, 0, 0, time.UTC); waiting.WaitsFor != callbacks.WaitsQuietHours || !waiting.DueAt.Equal(want) {
		t.Errorf("it waits for %q until %v", waiting.WaitsFor, waiting.DueAt)
	}
	f.clock.set(waiting.DueAt)
	f.work(t)
	f.want(t, made.ID, callbacks.Dialing, "")
}

// TestVoicemail: a machine is hung up on and counts as missed, or is left a message; a fax is not.
func TestVoicemail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	f.work(t)
	f.answer(t, made.ID)
	f.hook(t, made.ID, carrier.MachineDetected, map[string]string{"machine": "1"})
	f.status(t, made.ID, carrier.Completed)
	if got := f.want(t, made.ID, callbacks.Scheduled, ""); len(f.line.hungUp) != 1 || got.Calls[0].EndReason != telephony.EndVoicemail {
		t.Errorf("hung up %v, %+v", f.line.hungUp, got.Calls)
	}
	f.agent = f.newAgent(t, agents.Config{Callbacks: agents.Callbacks{
		Voicemail: agents.VoicemailLeaveMessage, VoicemailMessage: "Please call us.",
	}})
	left := f.plan(t, "v", "now")
	f.work(t)
	f.answer(t, left.ID)
	f.hook(t, left.ID, carrier.MachineDetected, map[string]string{"machine": "1"})
	f.status(t, left.ID, carrier.Completed)
	f.want(t, left.ID, callbacks.Completed, telephony.EndVoicemailLeft)
	faxed := f.plan(t, "w", "now")
	f.work(t)
	f.answer(t, faxed.ID)
	f.hook(t, faxed.ID, carrier.MachineDetected, map[string]string{"machine": "1", "fax": "1"})
	f.status(t, faxed.ID, carrier.Completed)
	f.want(t, faxed.ID, callbacks.Scheduled, "")
}

// TestDialedOnce: however often and by whomever a callback is dialed, one call is placed.
func TestDialedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	var group sync.WaitGroup
	for range 8 {
		_, worker := f.node()
		group.Go(func() {
			if err := worker.Dial(t.Context(), f.ref, made.ID); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if f.line.calls() != 1 {
		t.Errorf("%d calls", f.line.calls())
	}
}

// TestLost: when the request or its answer is lost, the carrier is asked, and the number is called
// once.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*line, bool){
		"Request": func(l *line, on bool) { l.losesRequest = on },
		"Answer":  func(l *line, on bool) { l.losesAnswer = on },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			made := f.plan(t, "u", "now")
			lose(f.line, true)
			f.work(t)
			f.want(t, made.ID, callbacks.Dialing, "")
			lose(f.line, false)
			f.clock.advance(20 * time.Second)
			f.work(t) // its request may still be on its way
			placed := map[string]int{"Request": 0, "Answer": 1}[name]
			if f.line.calls() != placed {
				t.Fatalf("%d calls before anybody can know", f.line.calls())
			}
			f.clock.advance(2 * time.Minute)
			f.work(t)
			f.clock.advance(2 * time.Minute)
			f.work(t)
			if f.line.calls() != 1 {
				t.Fatalf("%d calls", f.line.calls())
			}
			f.answer(t, made.ID)
			f.status(t, made.ID, carrier.Completed)
			if f.get(t, made.ID).Attempts != 1 {
				t.Error("it counts as two attempts")
			}
		})
	}
}

// TestCarrierAway: a call that can never be placed ends with a reason. It is not known whether it
// was when the carrier does not say either.
func TestCarrierAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	f.line.losesRequest = true
	for range 16 {
		f.work(t)
		f.clock.advance(time.Minute)
	}
	f.want(t, made.ID, callbacks.Failed, telephony.EndCarrierFailed)
	refused := f.plan(t, "v", "now")
	f.line.losesRequest, f.line.refuses = false, &carrier.Refused{Code: "21211", Message: "Invalid 'To' Phone Number"}
	f.work(t)
	f.want(t, refused.ID, callbacks.Failed, telephony.EndCarrierFailed+" 21211")
	f.line.refuses, f.line.losesAnswer, f.line.findsNothing = nil, true, true
	silent := f.plan(t, "w", "now")
	for range 16 {
		f.work(t)
		f.clock.advance(time.Minute)
	}
	f.want(t, silent.ID, callbacks.Failed, telephony.EndNotKnown)
}

// TestSilentCarrier: a carrier whose webhooks are lost is asked.
func TestSilentCarrier(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.plan(t, "u", "now")
	f.work(t)
	f.line.statuses = map[carrier.CallID]carrier.Status{"1": carrier.NoAnswer}
	f.clock.advance(2 * time.Minute)
	f.work(t)
	if got := f.want(t, made.ID, callbacks.Scheduled, ""); got.Attempts != 1 || got.Calls[0].Status != telephony.NoAnswer {
		t.Errorf("%d attempts, %+v", got.Attempts, got.Calls)
	}
}

// TestCanceled: at any time, also while it rings.
func TestCanceled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	planned, ringing := f.plan(t, "u", "2026-01-14T09:00"), f.plan(t, "v", "now")
	f.work(t)
	for _, id := range []callbacks.ID{planned.ID, ringing.ID, planned.ID} {
		if _, err := f.Cancel(t.Context(), f.ref, id, ""); err != nil {
			t.Fatal(err)
		}
		f.want(t, id, callbacks.Canceled, callbacks.EndCanceled)
	}
	if len(f.line.hungUp) != 1 {
		t.Errorf("hung up %v", f.line.hungUp)
	}
	f.status(t, ringing.ID, carrier.Canceled)
	f.clock.advance(48 * time.Hour)
	f.work(t)
	if f.line.calls() != 1 {
		t.Errorf("%d calls", f.line.calls())
	}
	_, err := f.Update(t.Context(), f.ref, planned.ID, callbacks.UpdateParams{At: new("now")})
	wantReason(t, err, fault.CallbackNotScheduled)
}

func wantReason(t testing.TB, err error, reason fault.Reason) {
	t.Helper()
	if !fault.IsReason(err, reason) {
		t.Errorf("error %v, want %s", err, reason)
	}
}

// TestPolicy: whom an agent may call when, and what is said of it.
func TestPolicy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.Create(t.Context(), f.ref, f.params("u", "2026-01-14T02:00"))
	wantReason(t, err, fault.CallbackNotAllowed)
	if said := err.Error(); !strings.Contains(said, "Wednesday, 14 January 2026, 08:00") ||
		!strings.Contains(said, "2026-01-14T08:00:00-05:00") {
		t.Errorf("it says %q", said)
	}
	ignoring := f.params("u", "2026-01-14T02:00")
	ignoring.IgnoreLimits = true
	if _, err := f.Create(t.Context(), f.ref, ignoring); err != nil {
		t.Error(err)
	}
	f.plan(t, "w", "2026-01-14T09:00")
	_, err = f.Create(t.Context(), f.ref, f.params("w", "2026-01-14T12:59"))
	wantReason(t, err, fault.CallbackNotAllowed)
	if err == nil || !strings.Contains(err.Error(), "13:00") {
		t.Errorf("it says %v", err)
	}
	later := f.plan(t, "w", "2026-01-14T13:00")
	_, err = f.Update(t.Context(), f.ref, later.ID, callbacks.UpdateParams{At: new("2026-01-14T10:00")})
	wantReason(t, err, fault.CallbackNotAllowed)
	_, err = f.Update(t.Context(), f.ref, later.ID, callbacks.UpdateParams{At: new("")})
	wantReason(t, err, fault.InvalidRequest)
	if moved, err := f.Update(t.Context(), f.ref, later.ID, callbacks.UpdateParams{Timezone: new("")}); err != nil ||
		moved.Timezone != "America/New_York" || !moved.At.Equal(later.At) {
		t.Errorf("%+v, %v", moved, err)
	}
	f.plan(t, "x", "2026-01-14T09:30")
	f.agent = f.newAgent(t, agents.Config{Callbacks: agents.Callbacks{Countries: []string{"DE"}}})
	_, err = f.Create(t.Context(), f.ref, f.params("y", "now"))
	wantReason(t, err, fault.CallbackNotAllowed)
	f.agent = f.newAgent(t, agents.Config{Callbacks: agents.Callbacks{RequireConsent: true}})
	_, err = f.Create(t.Context(), f.ref, f.params("y", "now"))
	wantReason(t, err, fault.CallbackNotAllowed)
	if _, err := f.SetConsent(t.Context(), f.ref, "y", true, "by mail"); err != nil {
		t.Fatal(err)
	}
	agreed := f.plan(t, "y", "now")
	if _, err := f.SetConsent(t.Context(), f.ref, "y", false, ""); err != nil {
		t.Fatal(err)
	}
	f.work(t)
	f.want(t, agreed.ID, callbacks.Failed, string(fault.CallbackNotAllowed))
}

// TestTimes: what times and numbers are taken, and for what.
func TestTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i, test := range []struct {
		change func(*callbacks.CreateParams)
		want   string
	}{
		{func(p *callbacks.CreateParams) { p.At = "2026-01-13T18:00:00+01:00" }, "2026-01-13T17:00:00Z"},
		{func(p *callbacks.CreateParams) { p.At, p.Timezone = "2026-01-13T18:00", "Europe/Berlin" }, "2026-01-13T17:00:00Z"},
		{func(p *callbacks.CreateParams) { p.At, p.InMinutes = "", 90 }, "2026-01-13T16:30:00Z"},
		{func(p *callbacks.CreateParams) { p.At, p.Timezone = "2026-01-13T15:00", "" }, "2026-01-13T20:00:00Z"}, // the number's zone
		// Clocks go from 02:00 to 03:00.
		{func(p *callbacks.CreateParams) { p.At, p.IgnoreLimits = "2026-03-08T02:30", true }, "2026-03-08T07:00:00Z"},
	} {
		p := f.params("user "+string(rune('a'+i)), "")
		test.change(&p)
		p.IgnoreLimits = true
		got, err := f.Create(t.Context(), f.ref, p)
		if err != nil || got.At.Format(time.RFC3339) != test.want {
			t.Errorf("%+v: %v (%v), want %s", p, got.At, err, test.want)
		}
	}
	for name, change := range map[string]func(*callbacks.CreateParams){
		"both":            func(p *callbacks.CreateParams) { p.InMinutes = 5 },
		"past":            func(p *callbacks.CreateParams) { p.At = "2026-01-13T06:00" },
		"too far":         func(p *callbacks.CreateParams) { p.At = "2028-01-13T06:00" },
		"no time":         func(p *callbacks.CreateParams) { p.At = "tomorrow" },
		"no number":       func(p *callbacks.CreateParams) { p.PhoneNumber = "201 555 0123" },
		"no zone":         func(p *callbacks.CreateParams) { p.Timezone = "EST5EDT4" },
		"a secret":        func(p *callbacks.CreateParams) { p.DynamicVariables = map[string]string{"secret__pin": "1"} },
		"a long reason":   func(p *callbacks.CreateParams) { p.Reason = strings.Repeat("x", 501) },
		"no user":         func(p *callbacks.CreateParams) { p.UserID = "" },
		"a nameless name": func(p *callbacks.CreateParams) { p.DynamicVariables = map[string]string{"": "1"} },
	} {
		p := f.params("z", "2026-01-13T10:00")
		change(&p)
		_, err := f.Create(t.Context(), f.ref, p)
		if !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOtherTenant: nobody reaches the callbacks, schedules and batches of others.
func TestOtherTenant(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, schedule := f.plan(t, "u", "now"), f.schedule(t, "0 9 * * *", "UTC")
	created, err := f.workspaces.CreateTenant(t.Context(), "Other", "pro")
	if err != nil {
		t.Fatal(err)
	}
	theirs := workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
	_, err = f.Get(t.Context(), theirs, made.ID)
	wantReason(t, err, fault.ResourceNotFound)
	_, err = f.Cancel(t.Context(), theirs, made.ID, "")
	wantReason(t, err, fault.ResourceNotFound)
	_, err = f.Update(t.Context(), theirs, made.ID, callbacks.UpdateParams{At: new("now")})
	wantReason(t, err, fault.ResourceNotFound)
	_, err = f.GetSchedule(t.Context(), theirs, schedule.ID)
	wantReason(t, err, fault.ResourceNotFound)
	wantReason(t, f.DeleteSchedule(t.Context(), theirs, schedule.ID), fault.ResourceNotFound)
	_, err = f.Cancel(t.Context(), f.ref, made.ID, "another user")
	wantReason(t, err, fault.ResourceNotFound)
	f.want(t, made.ID, callbacks.Scheduled, "")
}

// call calls a tool in a session of a user.
func (f *fixture) call(t testing.TB, user, tool, arguments string) (string, error) {
	t.Helper()
	return f.Builtins()[tool].RunBuiltin(t.Context(), tools.BuiltinCall{
		Ref: f.ref, SessionID: "ses_1", TurnID: "turn_1", CallID: idgen.New(idgen.ToolCall), Arguments: []byte(arguments),
		Variables: map[string]string{"system__user_id": user, "system__agent_id": string(f.agent.ID), "system__timezone": "UTC"},
	})
}

// TestTools: a model plans, lists, moves and cancels the user's own calls.
func TestTools(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said, err := f.call(t, "u", "schedule_callback",
		`{"phone_number":"+12015550123","at":"2026-01-14T09:00","timezone":"America/New_York","reason":"the lamp"}`)
	if err != nil || !strings.Contains(said, "Wednesday, 14 January 2026, 09:00") {
		t.Fatalf("%s, %v", said, err)
	}
	list, _, err := f.List(t.Context(), f.ref, callbacks.ListParams{UserID: "u"})
	if err != nil || len(list) != 1 || list[0].CreatedBy != callbacks.ByAgent || list[0].OriginSessionID != "ses_1" {
		t.Fatalf("%+v, %v", list, err)
	}
	id := string(list[0].ID)
	schedule := f.schedule(t, "0 9 * * MON", "UTC")
	other := schedule.UserID
	for _, test := range []struct{ user, arguments, want, refused string }{
		{"u", `{"action":"list"}`, id, ""},
		{"nobody", `{"action":"list"}`, `{"callbacks":[]}`, ""},
		{other, `{"action":"list"}`, string(schedule.ID), ""},
		{"u", `{"action":"reschedule","callback_id":"` + id + `","at":"2026-01-14T22:00"}`, "", "08:00"},
		{"u", `{"action":"reschedule","callback_id":"` + id + `","at":"2026-01-14T10:00"}`, "10:00", ""},
		{"u", `{"action":"reschedule","callback_id":"` + id + `"}`, "", "new time"},
		{"u", `{"action":"reschedule","callback_id":"` + id + `","cron":"0 9 * * *"}`, "", "single call"},
		{other, `{"action":"reschedule","callback_id":"` + id + `","at":"2026-01-14T11:00"}`, "", "no callback"},
		{"u", `{"action":"cancel","callback_id":"` + string(schedule.ID) + `"}`, "", "no schedule"},
		{other, `{"action":"reschedule","callback_id":"` + string(schedule.ID) + `","at":"2026-01-17T10:00"}`, "Saturday", ""},
		{other, `{"action":"reschedule","callback_id":"` + string(schedule.ID) + `","cron":"0 10 * * TUE"}`, "Tuesday", ""},
		{other, `{"action":"reschedule","callback_id":"` + string(schedule.ID) + `","cron":"daily"}`, "", "cron"},
		{other, `{"action":"cancel","callback_id":"` + string(schedule.ID) + `"}`, "off", ""},
		{"u", `{"action":"cancel","callback_id":"` + id + `"}`, "canceled", ""},
		{"u", `{"action":"cancel"}`, "", "callback_id"},
	} {
		said, err := f.call(t, test.user, "manage_callback", test.arguments)
		switch {
		case test.refused != "" && (err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(test.refused))):
			t.Errorf("%s: %s, %v, want it refused because of %q", test.arguments, said, err, test.refused)
		case test.refused == "" && (err != nil || !strings.Contains(said, test.want)):
			t.Errorf("%s: %s, %v, want %q", test.arguments, said, err, test.want)
		}
	}
	for arguments, refused := range map[string]string{
		`{"phone_number":"+12015550123"}`:                                              "when",
		`{"phone_number":"12015550123","in_minutes":5}`:                                "country",
		`{"phone_number":"+12015550123","at":"2026-01-14T23:00","timezone":"Nowhere"}`: "IANA",
		`{"phone_number":"+12015550123","at":"2026-01-15T03:00-05:00"}`:                "08:00",
	} {
		if said, err := f.call(t, "v", "schedule_callback", arguments); err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("%s: %s, %v", arguments, said, err)
		}
	}
}

// TestZeroRetention: what a call of an agent was about that keeps nothing is gone with the call.
func TestZeroRetention(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, agents.Config{Privacy: agents.Privacy{ZeroRetention: true}})
	p := f.params("u", "now")
	p.DynamicVariables = map[string]string{"name": "Ada"}
	made, err := f.Create(t.Context(), f.ref, p)
	if err != nil {
		t.Fatal(err)
	}
	f.work(t)
	if during := f.get(t, made.ID); during.Reason == "" || during.DynamicVariables["name"] != "Ada" {
		t.Errorf("while it is dialed: %+v", during)
	}
	f.answer(t, made.ID)
	f.hook(t, made.ID, carrier.MachineDetected, nil)
	f.status(t, made.ID, carrier.Failed)
	after := f.get(t, made.ID)
	if after.Reason != "" || len(after.DynamicVariables) > 0 || after.Calls[0].Reason != "" || len(after.Calls[0].DynamicVariables) > 0 {
		t.Errorf("after it: %+v", after)
	}
}

// TestQuota: when the plan's minutes are used up, nobody is called any more, and who talks is hung
// up on.
func TestQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.onPlan(workspaces.Plan{Name: "pro", KBStorageBytes: 1, KBUploadBytes: 1, Monthly: map[string]int64{"pstn_minutes": 2}})
	made := f.plan(t, "u", "now")
	f.work(t)
	f.answer(t, made.ID)
	f.line.statuses = map[carrier.CallID]carrier.Status{"1": carrier.InProgress}
	for range 3 {
		f.clock.advance(time.Minute)
		if err := f.usage.Fold(t.Context(), f.clock.now()); err != nil {
			t.Fatal(err)
		}
		f.work(t)
	}
	if len(f.line.hungUp) == 0 {
		t.Fatal("it goes on")
	}
	f.status(t, made.ID, carrier.Completed)
	f.want(t, made.ID, callbacks.Completed, string(fault.QuotaUsage))
	_, err := f.Create(t.Context(), f.ref, f.params("v", "now"))
	wantReason(t, err, fault.QuotaUsage)
}
