package turns

import (
	"bytes"
	"encoding/json"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// Bounds of a turn's calls. Source of the first two: decisions, Tools.
const (
	// maxToolRounds is how often a turn may call tools before it has to answer.
	maxToolRounds = 8
	// maxParallelCalls bounds the calls of a round that run at once.
	maxParallelCalls = 4
	// maxCallTime bounds a call that outlives its cancelled answer: the longest timeout_seconds.
	maxCallTime = 120 * time.Second
	// cancelGrace is how long a cancelled answer waits for a call that is not idempotent: most are
	// done by then, and the user who interrupted is not kept waiting by the others.
	cancelGrace = 500 * time.Millisecond
)

// Codes of calls that never reach package tools, or whose end nobody here saw.
const (
	codeUnknownTool = "unknown-tool"
	codeClient      = "client-error"
	codeRounds      = "rounds-exhausted"
)

// A call that is not idempotent is never cut short: it may have happened already. When its answer
// is cancelled (the user interrupts, the client hangs up, the session ends) and it is not done
// within cancelGrace, the turn is recorded with the result "unknown", and the call goes on by itself.
// What comes of it takes the place of "unknown" in the transcript, where the next turn finds it.
// Should this node die meanwhile, "unknown" stays, and is the truth.

// latch is decided once: the call is done, or the turn has gone on without it.
type latch struct{ state atomic.Int32 }

const (
	latchDone = iota + 1
	latchAbandoned
)

// done says that the call has its result in time.
func (l *latch) done() bool { return l.state.CompareAndSwap(0, latchDone) }

// leave says that the turn goes on without the call.
func (l *latch) leave() bool { return l.state.CompareAndSwap(0, latchAbandoned) }

// pendingCall is one call of a round.
type pendingCall struct {
	Call   sessions.MessageCall
	entry  tools.Entry
	known  bool
	broken string // what the model wrote instead of arguments
	// params is the call as package tools gets it; of a known tool only.
	params tools.CallParams
	result sessions.Message
	// assigned are the variables that the answer set; see assign.go.
	assigned map[string]string
	done     chan struct{}
	// late decides whether the turn or the call ends first; see late.go.
	late latch
	// detached says that the call may detach the turn.
	detached bool
	// refusal says that the user has not asked for the call (see guard.go), or that the answer
	// was cut off in it.
	refusal *tools.Error
	// asked is the request for its approval; nil: nobody was asked.
	asked *asked
}

// system says that the call is of end_call, skip_turn or language_detection.
func (p *pendingCall) system() bool { return p.known && p.entry.Tool.Bucket == tools.BucketSystem }

func (p *pendingCall) needsApproval() bool {
	return p.known && p.broken == "" && p.entry.Enabled && p.entry.NeedsApproval
}

func (p *pendingCall) approvalID() string { return RequestOf(p.Call.ID) }

func (r *Runner) isClientTool(name string) bool {
	for _, tool := range r.ClientTools {
		if tool.Name == name {
			return true
		}
	}
	return false
}

// Pending gives a call an id of isOurs, since a model's own may repeat from turn to turn.
func (r *Runner) newCall(call model.ToolCall) *pendingCall {
	entry, known := r.tools.Find(call.Name)
	p := &pendingCall{
		Call:  sessions.MessageCall{ID: idgen.New(idgen.ToolCall), ItemID: idgen.New(idgen.Item), Name: call.Name, Arguments: call.Arguments},
		entry: entry, known: known, broken: call.Malformed, done: make(chan struct{}),
	}
	p.Call.Name, p.Call.Arguments = sessions.StorableText(p.Call.Name), json.RawMessage(sessions.StorableText(string(p.Call.Arguments)))
	if len(p.Call.Arguments) == 0 {
		p.Call.Arguments = json.RawMessage(`{}`)
	}
	if call.Cut != "" {
		p.refusal = &tools.Error{Code: failure.ArgumentsInvalid, Message: call.Cut}
	}
	if bytes.Contains(p.Call.Arguments, []byte(`\u0000`)) { // Postgres cannot keep it
		p.broken, p.Call.Arguments = string(p.Call.Arguments), json.RawMessage(`{}`)
	}
	p.Call.Client = !known && p.broken == "" && r.isClientTool(call.Name)
	if known {
		p.params = tools.CallParams{
			Ref: r.Session.Ref(), SessionID: string(r.Session.ID), TurnID: string(r.Turn.ID), CallID: p.Call.ID,
			Entry: entry, Arguments: p.Call.Arguments, Variables: r.values,
		}
		if p.broken != "" {
			p.params.Arguments = json.RawMessage(p.broken) // refused there, and traced
		}
	}
	return p
}

// refused is the result of a call that was not made.
func (r *Runner) refused(p *pendingCall, begun time.Time, code, message string) sessions.Message {
	return sessions.Message{
		Role: sessions.RoleTool, ItemID: p.Call.ItemID, CallID: p.Call.ID, Text: sessions.ErrorText(code, message),
		At:     sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun)),
		Result: &sessions.CallResult{ToolID: string(p.entry.Tool.ID), ErrorCode: code, ErrorMessage: message, StartedAt: begun},
	}
}
