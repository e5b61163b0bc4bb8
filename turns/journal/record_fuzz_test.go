package journal

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns/approvals"
)

// FuzzDecodeRecord reads what is said to have been kept while Postgres was away: what is taken
// names one tenant and one session throughout, and is the same when it is kept again.
func FuzzDecodeRecord(f *testing.F) {
	session := sessions.Session{ID: "ses_1", TenantID: "ten_1", WorkspaceID: "ws_1", AgentID: "agt_1"}
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	turn := sessions.NewTurn(session, "turn_1", at)
	turn.Messages = []sessions.Message{
		{Role: sessions.RoleUser, ItemID: "item_1", Text: "Pay five."},
		{Role: sessions.RoleAssistant, Calls: []sessions.MessageCall{{ID: "call_1", Name: "pay", Arguments: json.RawMessage(`{"sum":5}`)}}},
		{
			Role:   sessions.RoleTool,
			CallID: "call_1",
			Text:   "Paid.",
			Result: &sessions.CallResult{
				StartedAt: at,
				Approval:  &sessions.CallApproval{Status: sessions.ApprovalApproved, DecidedBy: approvals.BySocket, DecidedAt: at},
			},
		},
	}
	for _, kind := range []recordKind{recordTurn, recordFinish, recordLeft, recordEnd, recordResults, recordTrace} {
		r := newRecord(kind, session, at)
		switch kind {
		case recordTurn, recordFinish:
			r.Turn, r.Receipt, r.EndCall = &turn, json.RawMessage(`{"version":1}`), kind == recordFinish
		case recordLeft:
			r.Socket, r.HungUp = 7, true
		case recordEnd:
			r.Status, r.Reason = sessions.Completed, sessions.ReasonHangUp
		case recordResults:
			r.TurnID, r.Results, r.Assigned = turn.ID, turn.Messages[2:], map[string]string{"a": "b"}
		case recordTrace:
			r.Trace = &tools.Call{TenantID: session.TenantID}
		}
		encoded, err := r.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	for _, broken := range []string{
		``, `{}`, `null`, `[1]`, `{"v":2,"kind":"end","tenant":"t","session":"s"}`,
		`{"v":1,"kind":"turn","tenant":"t","session":"s","turn":{"ID":"x","SessionID":"other","TenantID":"t"}}`,
	} {
		f.Add([]byte(broken))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		r, err := decodeRecord(encoded)
		if err != nil {
			if !errors.Is(err, errRecord) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if r.Tenant == "" || r.Session == "" ||
			r.Turn != nil && (r.Kind == recordTurn || r.Kind == recordFinish) && (r.Turn.TenantID != r.Tenant || r.Turn.SessionID != r.Session) {
			t.Fatalf("taken: %s", encoded)
		}
		again, err := r.encode()
		if err != nil {
			t.Fatalf("%s is taken and cannot be kept again: %v", encoded, err)
		}
		if r, err = decodeRecord(again); err != nil {
			t.Fatalf("%s is taken, and %s is not: %v", encoded, again, err)
		}
		if twice, err := r.encode(); err != nil || string(twice) != string(again) {
			t.Fatalf("%s becomes %s, %v", again, twice, err)
		}
	})
}
