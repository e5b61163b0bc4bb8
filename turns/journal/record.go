package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// recordVersion is the version of a record's layout. A newer server reads the records of an older
// one.
const recordVersion = 1

// recordKind is what a record says.
type recordKind string

const (
	recordTurn    recordKind = "turn"    // a turn that goes on, as it stands
	recordFinish  recordKind = "finish"  // a turn's end
	recordLeft    recordKind = "left"    // a socket has gone
	recordEnd     recordKind = "end"     // the session is to be ended
	recordResults recordKind = "results" // late results of calls
	recordTrace   recordKind = "trace"   // the trace of a call
)

// record says how something of a session stands.
type record struct {
	Version   int                 `json:"v"`
	Kind      recordKind          `json:"kind"`
	Tenant    workspaces.TenantID `json:"tenant"`
	Workspace workspaces.ID       `json:"workspace"`
	Agent     agents.ID           `json:"agent"`
	Session   sessions.ID         `json:"session"`
	At        time.Time           `json:"at"`

	// Turn is of turn and finish, Receipt of finish.
	Turn    *sessions.Turn  `json:"turn,omitempty"`
	Receipt json.RawMessage `json:"receipt,omitempty"`
	// Escalation, Handover, EndCall, EndReason, Language and Assigned are a finish's; Assigned also of
	// results. UserID is for the escalation.
	Escalation *turns.Escalation `json:"escalation,omitempty"`
	Handover   *handover.Request `json:"handover,omitempty"`
	UserID     string            `json:"user_id,omitempty"`
	EndCall    bool              `json:"end_call,omitempty"`
	EndReason  string            `json:"end_reason,omitempty"`
	Language   string            `json:"language,omitempty"`
	Assigned   map[string]string `json:"assigned,omitempty"`
	// Socket and HungUp are of left.
	Socket int64 `json:"socket,omitempty"`
	HungUp bool  `json:"hung_up,omitempty"`
	// Status and Reason are of end.
	Status sessions.Status `json:"status,omitempty"`
	Reason string          `json:"reason,omitempty"`
	// TurnID and Results are of results.
	TurnID  sessions.TurnID    `json:"turn_id,omitempty"`
	Results []sessions.Message `json:"results,omitempty"`
	// Trace is of trace.
	Trace *tools.Call `json:"trace,omitempty"`
}

var errRecord = errors.New("not a record of ours")

func newRecord(kind recordKind, session sessions.Session, at time.Time) record {
	return record{
		Version: recordVersion, Kind: kind, Tenant: session.TenantID, Workspace: session.WorkspaceID, Agent: session.AgentID,
		Session: session.ID, At: at,
	}
}

func (r record) encode() ([]byte, error) {
	encoded, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding what is kept: %w", err)
	}
	return encoded, nil
}

// decodeRecord reads a record. Errors: errRecord.
func decodeRecord(encoded []byte) (record, error) {
	var r record
	if err := json.Unmarshal(encoded, &r); err != nil {
		return record{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	complete := r.Version == recordVersion && r.Tenant != "" && r.Session != ""
	switch r.Kind {
	case recordTurn, recordFinish:
		complete = complete && r.Turn != nil && r.Turn.ID != "" && r.Turn.SessionID == r.Session && r.Turn.TenantID == r.Tenant
	case recordResults:
		complete = complete && r.TurnID != ""
	case recordTrace:
		complete = complete && r.Trace != nil && r.Trace.TenantID == r.Tenant
	case recordLeft, recordEnd:
	default:
		complete = false
	}
	if !complete {
		return record{}, fmt.Errorf("%w: version %d, kind %q", errRecord, r.Version, r.Kind)
	}
	if r.Turn != nil {
		r.Turn.Receipt = nil // it is the record's
	}
	return r, nil
}
