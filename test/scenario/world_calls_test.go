package scenario

import (
	"maps"
	"testing"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/test/harness"
)

// busyNumber is a number whose phone is always busy: a call to it is over at once, and was one.
const busyNumber = "+12015550123"

// settleCalls gives the owner a number, a call, and callbacks of every kind. All that is planned is
// far ahead, so that nothing is dialed while a test counts rows.
func (w *world) settleCalls(t *testing.T) {
	t.Helper()
	in, agent := w.owner.In, w.id("agent_id")
	later := time.Now().AddDate(0, 0, 300).UTC().Truncate(time.Second).Format(time.RFC3339)
	made := func(path string, body map[string]any) string {
		return w.do(t, "POST", in(path), body).Must(t, 201).Text("id")
	}
	user, about := "u "+w.mark, "about "+w.mark
	number := harness.SwitchboardFirst
	if w.owner.ID != w.Tenant.ID { // a number is one tenant's
		number = harness.SwitchboardThird
	}
	maps.Copy(w.values, map[string]any{
		"phone_number": busyNumber, "CreatePhoneNumber.phone_number": harness.SwitchboardOther, "CreateCallback.at": later,
		"CreateCallback.ignore_limits": true, "UpdateCallback.ignore_limits": true, "CreateCallbackSchedule.cron": "0 12 * * *",
		"CreateCallbackSchedule.starts_at": later, "CreateCallbackBatch.starts_at": later,
		"CreateCallbackBatch.recipients": []any{map[string]any{"phone_number": busyNumber}},
		"ControlCallbackBatch.action":    "pause", "SetCallConsent.granted": true, "TransferCall.to": "+12015550199",
		"ListCallbacks.agent_id": nil, "ListCallbacks.user_id": nil, "ListCallbacks.schedule_id": nil, "ListCallbacks.batch_id": nil,
		"ListCallbackSchedules.agent_id": nil, "ListCallbackSchedules.user_id": nil, "ListCalls.agent_id": nil, "ListCalls.user_id": nil,
		"UpdateCallback.phone_number": nil, "UpdateCallback.timezone": nil,
		"UpdateCallbackSchedule.phone_number": nil, "UpdateCallbackSchedule.timezone": nil,
		"number_id": made("/phone-numbers", map[string]any{
			"phone_number": number, "agent_id": agent, "name": w.mark,
		}),
		"schedule_id": made("/callback-schedules", map[string]any{
			"agent_id": agent, "user_id": user, "phone_number": busyNumber, "cron": "0 12 * * *", "starts_at": later, "reason": about,
		}),
		"batch_id": made("/callback-batches", map[string]any{
			"agent_id": agent, "name": w.mark, "starts_at": later, "reason": about,
			"recipients": []any{map[string]any{"phone_number": busyNumber, "user_id": user}},
		}),
	})
	callback := map[string]any{
		"agent_id": agent, "user_id": user, "phone_number": busyNumber, "at": later, "reason": about, "ignore_limits": true,
	}
	w.values["callback_id"], w.values["CancelCallback.callback_id"] = made("/callbacks", callback), made("/callbacks", callback)
	callback["at"] = "now"
	dialed := made("/callbacks", callback)
	harness.Await(t, harness.Patience, "a call that nobody took", func() bool {
		got := w.do(t, "GET", in("/callbacks/"+dialed), nil).Must(t, 200)
		return got.Text("status") == "scheduled" && len(got.List("attempts")) == 1
	})
	call := w.do(t, "GET", in("/callbacks/"+dialed), nil).Text("attempts", 0, "call_id")
	w.values["GetCall.call_id"], w.values["HangUpCall.call_id"] = call, call
	// A call that goes on would be over when its sound ends, so it is a copy that nobody looks at.
	w.values["TransferCall.call_id"] = harness.Rows[string](t, w.Env, `
		INSERT INTO phone_calls
		SELECT (jsonb_populate_record(pc, jsonb_build_object('id', $2::text, 'status', 'in_progress', 'carrier_call_id', $2::text,
			'check_at', '2100-01-01T00:00:00Z', 'end_reason', '', 'ended_at', NULL, 'callback_id', '', 'answered_at', now(),
			'transfer_status', 'connected', 'transfer_to', '+12015550199', 'transfer_mode', 'cold',
			'transfer_requested_at', now(), 'transfer_connected_at', now()))).*
		FROM phone_calls AS pc
		WHERE id = $1 RETURNING id`, call, idgen.New(idgen.PhoneCall))[0]
}
