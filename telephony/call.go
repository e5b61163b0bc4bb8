package telephony

import (
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/workspaces"
)

// ID names a call (pcl_…).
type ID string

// CallbackID names a callback (cb_…).
type CallbackID string

// Direction says who called.
type Direction string

// The directions.
const (
	Inbound  Direction = "inbound"
	Outbound Direction = "outbound"
)

// Status is where a call is; see doc.go.
type Status string

// The statuses.
const (
	Dialing    Status = "dialing"
	Ringing    Status = "ringing"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Busy       Status = "busy"
	NoAnswer   Status = "no_answer"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// rank orders statuses: one with a higher rank replaces one with a lower.
func (s Status) rank() int {
	switch s {
	case Dialing:
		return 0
	case Ringing:
		return 1
	case InProgress:
		return 2
	case Completed, Busy, NoAnswer, Failed, Canceled:
	}
	return 3
}

// IsOver reports whether a call with the status has ended.
func (s Status) IsOver() bool { return s.rank() == 3 }

// statusOf is the status of what a carrier says.
var statusOf = map[carrier.Status]Status{
	carrier.Queued: Dialing, carrier.Ringing: Ringing, carrier.InProgress: InProgress, carrier.Completed: Completed,
	carrier.Busy: Busy, carrier.NoAnswer: NoAnswer, carrier.Failed: Failed, carrier.Canceled: Canceled,
}

// Why calls end. Others are slugs of errors.
const (
	EndAgentHungUp   = "agent_hung_up"
	EndPersonHungUp  = "person_hung_up"
	EndVoicemail     = "voicemail"
	EndVoicemailLeft = "voicemail_left"
	EndTransferred   = "transferred"
	EndCanceled      = "canceled"
	EndRejected      = "rejected"
	EndBusy          = "busy"
	EndNoAnswer      = "no_answer"
	EndCarrierFailed = "carrier_failed"
	EndNotConnected  = "media_not_connected"
	EndMediaLost     = "media_lost"
	EndNotKnown      = "outcome_unknown"
	EndAgentDeleted  = "agent_deleted"
)

// Who answered a call.
const (
	Human   = "human"
	Machine = "machine"
)

// The statuses of a transfer; see doc.go.
const (
	TransferRequested = "requested"
	TransferRinging   = "ringing"
	TransferConnected = "connected"
	TransferFailed    = "failed"
)

// Transfer is how a call is connected with a person.
type Transfer struct {
	// Status is empty when none was asked for.
	Status string `bun:"status"`
	// To is E.164.
	To string `bun:"to"`
	// Mode is agents.Cold or agents.Warm.
	Mode    string `bun:"mode"`
	Summary string `bun:"summary"`
	// Reason is why it failed.
	Reason      string    `bun:"reason"`
	RingSeconds int       `bun:"ring_seconds"`
	RequestedAt time.Time `bun:"requested_at,nullzero"`
	// AnsweredAt is when the person began to hear the summary.
	AnsweredAt  time.Time `bun:"answered_at,nullzero"`
	ConnectedAt time.Time `bun:"connected_at,nullzero"`
	// BySession says that the session has asked for it: it is made only while the session still
	// does.
	BySession bool `bun:"by_session"`
	// DueAt is when Sweep goes on with it: one that is requested is made, one whose summary is said
	// is taken to be connected, and one that rings is given up.
	DueAt time.Time `bun:"due_at,nullzero"`
}

// number tells the transfers of a call apart.
func (t Transfer) number() string { return strconv.FormatInt(t.RequestedAt.UnixMicro(), 10) }

// isPending reports whether a person is being looked for.
func (t Transfer) isPending() bool {
	return t.Status == TransferRequested || t.Status == TransferRinging
}

// Call is one call over a carrier.
type Call struct {
	bun.BaseModel `bun:"table:phone_calls,alias:pc"`

	ID          ID                  `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	AgentID     agents.ID           `bun:"agent_id"`
	UserID      string              `bun:"user_id"`
	Direction   Direction           `bun:"direction"`
	// From and To are E.164; From is empty when the caller hides it.
	From      string      `bun:"from_number"`
	To        string      `bun:"to_number"`
	Status    Status      `bun:"status"`
	EndReason string      `bun:"end_reason"`
	SessionID sessions.ID `bun:"session_id"`
	// CallbackID and Attempt are those of an outbound call, NumberID that of an inbound one.
	CallbackID CallbackID `bun:"callback_id"`
	Attempt    int        `bun:"attempt"`
	NumberID   numbers.ID `bun:"number_id"`
	// AnsweredBy is Human or Machine; empty when it is not known.
	AnsweredBy string `bun:"answered_by"`
	// Carrier is the carrier's name, CarrierCallID its id of the call; empty until it is known.
	Carrier       string         `bun:"carrier"`
	CarrierCallID carrier.CallID `bun:"carrier_call_id"`
	// DynamicVariables are those of the session. Reason is what an outbound call is about.
	DynamicVariables map[string]string `bun:"dynamic_variables,type:jsonb"`
	Reason           string            `bun:"reason"`
	RingSeconds      int               `bun:"ring_seconds"`
	MaxSeconds       int               `bun:"max_duration_seconds"`
	// DetectMachine asks the carrier whether a machine answers. VoicemailMessage is left on one
	// then; when it is empty, the call is hung up.
	DetectMachine    bool     `bun:"detect_machine"`
	VoicemailMessage string   `bun:"voicemail_message"`
	Transfer         Transfer `bun:"embed:transfer_"`
	// ZeroRetention says that nothing of what the call was about is kept when it is over.
	ZeroRetention bool `bun:"zero_retention"`
	// CheckAt is when Sweep looks at the call next; zero when all of it is done.
	CheckAt    time.Time `bun:"check_at,nullzero"`
	CreatedAt  time.Time `bun:"created_at"`
	AnsweredAt time.Time `bun:"answered_at,nullzero"`
	EndedAt    time.Time `bun:"ended_at,nullzero"`
	// DurationSeconds is the time talked, a transfer included. PSTNMinutes are those that were
	// counted.
	DurationSeconds int `bun:"duration_seconds"`
	PSTNMinutes     int `bun:"pstn_minutes"`
}

// Ref is the call's workspace.
func (c Call) Ref() workspaces.Ref { return workspaces.Ref{TenantID: c.TenantID, ID: c.WorkspaceID} }

// Missed reports whether nobody was reached although the call could be placed: it may be tried
// again.
func (c Call) Missed() bool {
	switch {
	case c.Status == Busy || c.Status == NoAnswer:
		return true
	case c.EndReason == EndVoicemail || c.EndReason == EndNotConnected:
		return true
	}
	return false
}

// LackedRoom reports whether somebody answered when the plan had no room for the session any more:
// the call may be tried again.
func (c Call) LackedRoom() bool {
	return c.Status == Failed && c.EndReason == string(fault.QuotaSessions)
}

// limitGrace is how much longer a call may be than its session, which ends first and says goodbye.
const limitGrace = 15 * time.Second

// place is the call as a carrier is asked for it.
func (c Call) place(urls hooks) carrier.PlaceParams {
	p := carrier.PlaceParams{
		From: c.From, To: c.To, AnswerURL: urls.of(c, carrier.Asked), StatusURL: urls.of(c, carrier.StatusChanged),
		Ring: time.Duration(c.RingSeconds) * time.Second, MaxDuration: time.Duration(c.MaxSeconds)*time.Second + limitGrace,
	}
	if c.DetectMachine {
		p.MachineURL = urls.of(c, carrier.MachineDetected)
	}
	return p
}

// errOver says that a call is not in progress any more, or not yet.
func errOver(c Call) error {
	if c.Status.IsOver() {
		return fault.New(fault.CallNotInProgress, "The call has ended (%s, %s).", c.Status, c.EndReason)
	}
	return fault.New(fault.CallNotInProgress, "The call is %s: nobody has answered yet.", c.Status)
}

// ListParams narrow a list of calls; empty members do not.
type ListParams struct {
	Page      postgres.PageParams
	Direction Direction
	Status    Status
	AgentID   string
	UserID    string
}
