package turns

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/turns/extratools"
)

// Bounds of a turn's calls. Source of the first two: decisions, Tools.
const (
	// maxToolRounds is how often a turn may call tools before it has to answer.
	maxToolRounds = 8
	// maxParallelCalls bounds the calls of a round that run at once.
	maxParallelCalls = 4
	// maxCallTime bounds a call that goes on after its answer was cancelled: the longest
	// timeout_seconds.
	maxCallTime = 120 * time.Second
	// cancelGrace is how long a cancelled answer waits for a call that is not idempotent. Most calls
	// end within it, and the user who interrupted does not wait for the others.
	cancelGrace = 500 * time.Millisecond
)

// Codes of calls that are not made.
const (
	codeUnknownTool = "unknown-tool"
	codeRounds      = "rounds-exhausted"
)

// A call that is not idempotent is never cut short: it may have happened already. When its answer
// is cancelled (the user interrupts, the client hangs up, the session ends) and the call does not
// end within cancelGrace, the turn is recorded with the result "unknown" and the call goes on. Its
// result replaces "unknown" in the transcript, where the next turn finds it. If this node dies
// meanwhile, "unknown" stays.

// latch is set once: either the call is done, or the turn has gone on without it.
type latch struct{ state atomic.Int32 }

const (
	latchDone = iota + 1
	latchAbandoned
)

// done reports whether the call has its result in time.
func (l *latch) done() bool { return l.state.CompareAndSwap(0, latchDone) }

// leave reports whether the turn goes on without the call.
func (l *latch) leave() bool { return l.state.CompareAndSwap(0, latchAbandoned) }

// pendingCall is one call of a round. It may outlive its turn, and runs beside what changes the
// runner's Session and Turn: it reads its own copies.
type pendingCall struct {
	session   sessions.Session // as it was when the model made the call
	Call      sessions.MessageCall
	entry     tools.Entry
	known     bool
	malformed string // arguments that are no JSON object, or cannot be kept as the model wrote them
	// params is the call as package tools gets it.
	params tools.CallParams
	result sessions.Message
	// assigned are the variables that the answer set; see variables.go.
	assigned map[string]string
	done     chan struct{}
	// after is closed when the call may begin; nil: at once. See inOrder.
	after <-chan struct{}
	// late decides whether the turn or the call ends first; see late.go.
	late latch
	// detached says that the call may go on after the turn.
	detached bool
	// refusal says why the call is not made: the user has not asked for it (guard.go), or the answer
	// was cut off in it.
	refusal *tools.Error
	// approval is the request for its approval; nil: nobody was asked.
	approval *approvalRequest
}

// system says that the call is of end_call, skip_turn or language_detection.
func (p *pendingCall) system() bool { return p.known && p.entry.Tool.Bucket == tools.BucketSystem }

func (p *pendingCall) needsApproval() bool {
	return p.known && p.malformed == "" && p.entry.Enabled && p.entry.NeedsApproval
}

func (p *pendingCall) requestID() string { return RequestOf(p.Call.ID) }

func (r *Runner) isClientTool(name string) bool {
	for _, tool := range r.ClientTools {
		if tool.Name == name {
			return true
		}
	}
	return false
}

// unknownTool is in place of a name that the model made up: it may be anything, and is shown and
// stored as the names of tools are.
const unknownTool = "unknown_tool"

// newCall gives a call an id of its own: the model's may repeat from turn to turn.
func (r *Runner) newCall(call model.ToolCall) *pendingCall {
	entry, known := r.tools.Find(call.Name)
	p := &pendingCall{
		session: r.Session,
		Call:    sessions.MessageCall{ID: idgen.New(idgen.ToolCall), ItemID: idgen.New(idgen.Item), Name: call.Name, Arguments: call.Arguments},
		entry:   entry, known: known, malformed: call.Malformed, done: make(chan struct{}),
	}
	p.Call.Name, p.Call.Arguments = sessions.StorableText(p.Call.Name), json.RawMessage(sessions.StorableText(string(p.Call.Arguments)))
	if !known && !r.isClientTool(call.Name) {
		if len(r.Session.Config.Guards) > 0 || r.Session.KeepsNothing() {
			p.Call.Name = unknownTool
		}
		if p.entry, p.known = r.tools.FindServer(call.Name); p.known {
			p.entry.Name = p.Call.Name
		}
		entry, known = p.entry, p.known
	}
	if len(p.Call.Arguments) == 0 {
		p.Call.Arguments = json.RawMessage(`{}`)
	}
	if call.Cut != "" {
		p.refusal = &tools.Error{Code: failure.ArgumentsInvalid, Message: call.Cut}
	}
	if p.malformed == "" && jsonvalue.Unkeepable(p.Call.Arguments) != "" {
		p.malformed = string(p.Call.Arguments)
	}
	p.Call.Client = !known && p.malformed == "" && r.isClientTool(call.Name)
	p.params = tools.CallParams{
		Ref: r.Session.Ref(), SessionID: string(r.Session.ID), TurnID: string(r.Turn.ID), CallID: p.Call.ID,
		Entry: entry, Arguments: p.Call.Arguments, Variables: r.values, PII: r.Session.Redactor(),
	}
	if p.system() && p.Call.Name == extratools.Transfer && r.isPersonAsked() {
		p.params.Variables = extratools.Asked(r.values)
	}
	if entry.Tool.Bucket == tools.BucketMemory { // what it writes down is stored
		p.params.Arguments = p.params.PII.JSON(p.params.Arguments)
	}
	if p.malformed != "" {
		p.params.Arguments = json.RawMessage(p.malformed) // package tools refuses and traces it
		p.Call.Arguments = tools.ArgumentsAsText(p.malformed)
	}
	if !known { // the trace of a refused call names it
		p.params.Entry = tools.Entry{Name: p.Call.Name, AgentID: r.Session.AgentID}
		if r.isClientTool(call.Name) {
			p.params.Entry.Tool.ID = tools.ID(tools.ClientPrefix + p.Call.Name)
		}
	}
	return p
}

// refused is the result of a call that was not made, or whose end is not known. It is not traced.
func (r *Runner) refused(p *pendingCall, begun time.Time, code, message string) sessions.Message {
	return sessions.Message{
		Role: sessions.RoleTool, ItemID: p.Call.ItemID, CallID: p.Call.ID, Text: sessions.ErrorText(code, message),
		At:     sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun)),
		Result: &sessions.CallResult{ToolID: string(p.entry.Tool.ID), ErrorCode: code, ErrorMessage: message, StartedAt: begun},
	}
}
