package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
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
	// lateGrace is how long a cancelled answer waits for a call that is not idempotent: most are
	// done by then, and the user who interrupted is not kept waiting by the others.
	lateGrace = 500 * time.Millisecond
)

// Codes of calls that never reach package tools, or whose end nobody here saw.
const (
	codeUnknownTool = "unknown-tool"
	CodeClient      = "client-error"
	codeRounds      = "rounds-exhausted"
)

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
	// mayLeave says that the call may outlive the turn.
	mayLeave bool
	// withheld says that the user has not asked for the call (see injection.go), or that the answer
	// was cut off in it.
	withheld *tools.Error
	// asked is the request for its approval; nil: nobody was asked.
	asked *asked
}

// system says that the call is of end_call, skip_turn or language_detection.
func (p *pendingCall) system() bool { return p.known && p.entry.Tool.Bucket == tools.BucketSystem }

func (r *Runner) isClientTool(name string) bool {
	for _, tool := range r.ClientTools {
		if tool.Name == name {
			return true
		}
	}
	return false
}

// callTools runs the calls of a round and puts their results into the turn, in the order of the
// calls. stop is set when the turn ends here: end_call, skip_turn, or a call that the client runs.
func (r *Runner) callTools(ctx context.Context, wanted []model.ToolCall) error {
	round := make([]*pendingCall, len(wanted))
	for i, call := range wanted {
		round[i] = r.Pending(call)
	}
	r.holdBack(ctx, round)
	if err := r.sayFarewell(round); err != nil {
		return err
	}
	if err := r.noteCalls(ctx, round); err != nil {
		return err
	}
	begun := r.S.sessions.Now()
	for _, p := range round {
		if p.Call.Client {
			continue
		}
		err := r.Tell(ToolStarted{
			ResponseID: r.ResponseID, ItemID: p.Call.ItemID, CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments, System: p.system(), Kind: p.entry.Tool.Kind,
		})
		if err != nil {
			return err
		}
	}
	if err := r.askApprovals(ctx, round); err != nil {
		return err
	}
	var running sync.WaitGroup
	slots := make(chan struct{}, maxParallelCalls) // a semaphore
	for _, p := range round {
		if !p.Call.Client {
			r.launch(ctx, p, slots, &running)
		}
	}
	err := r.collect(ctx, round)
	running.Wait()
	r.Receipt.Stage(sessions.StageTools, begun, r.S.sessions.Now())
	r.Turn.Metrics.ToolsMS += sessions.Milliseconds(r.S.sessions.Now().Sub(begun))
	if err == nil {
		err = r.keepResults(ctx)
	}
	if err != nil {
		return err
	}
	return ctx.Err()
}

// collect waits for the results in order and takes the effects of system tools. After an error of
// emit it still keeps the results.
func (r *Runner) collect(ctx context.Context, round []*pendingCall) (err error) {
	for _, p := range round {
		if p.Call.Client {
			r.stop = true
			if err == nil {
				err = r.Tell(ClientToolCalled{ResponseID: r.ResponseID, ItemID: p.Call.ItemID, CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments})
			}
			continue
		}
		result := r.await(ctx, p)
		r.Turn.Messages = append(r.Turn.Messages, result)
		noteMemory(&r.Receipt, p.entry, result)
		failed := result.Result.ErrorCode != ""
		if !failed {
			r.effect(p)
		}
		if err == nil {
			err = r.Tell(ToolDone{
				ResponseID: r.ResponseID, ItemID: p.Call.ItemID, CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments,
				Output: result.Text, Failed: failed, Latency: time.Duration(result.Result.LatencyMS) * time.Millisecond, Result: *result.Result, System: p.system(), Kind: p.entry.Tool.Kind,
			})
		}
	}
	return err
}

// Pending gives a call an id of ours, since a model's own may repeat from turn to turn.
func (r *Runner) Pending(call model.ToolCall) *pendingCall {
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
		p.withheld = &tools.Error{Code: failure.ArgumentsInvalid, Message: call.Cut}
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

// refuseRound notes the calls of a model that had to answer without any: none of them is made.
func (r *Runner) refuseRound(ctx context.Context, wanted []model.ToolCall) error {
	round := make([]*pendingCall, len(wanted))
	for i, call := range wanted {
		round[i] = r.Pending(call)
		round[i].Call.Client = false
	}
	if err := r.noteCalls(ctx, round); err != nil {
		return err
	}
	for _, p := range round {
		r.Turn.Messages = append(r.Turn.Messages, r.refused(p, r.S.sessions.Now(), codeRounds, "Tools had been called in as many rounds as a turn may have, so this call was not made."))
	}
	return nil
}

// noteCalls writes the calls into the turn, and the turn into Postgres before they run: should
// this node die, the transcript still says what was begun.
//
// Errors: Unavailable unavailable when they cannot be written, or the turn is no longer ours. Then
// no call may be made: nobody would know of it, or another node may be making it.
func (r *Runner) noteCalls(ctx context.Context, round []*pendingCall) error {
	last := len(r.Turn.Messages) - 1
	if last < 0 || r.Turn.Messages[last].Role != sessions.RoleAssistant || len(r.Turn.Messages[last].Calls) > 0 {
		r.Turn.Messages = append(r.Turn.Messages, sessions.Message{Role: sessions.RoleAssistant, At: sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun))})
		last = len(r.Turn.Messages) - 1
	}
	for _, p := range round {
		r.Turn.Messages[last].Calls = append(r.Turn.Messages[last].Calls, p.Call)
	}
	begun := r.S.sessions.Now()
	mine, err := r.save(ctx)
	r.Receipt.Stage(sessions.StagePersistence, begun, r.S.sessions.Now())
	if err == nil && !mine {
		err = sessions.ErrTakenForLost()
	}
	return postgres.MapError(err)
}

// save writes the turn's messages before its end; mine is false when somebody else has the turn.
func (r *Runner) save(ctx context.Context) (mine bool, err error) {
	return r.S.store.Save(ctx, SaveParams{Session: r.Session, Turn: r.Turn, Response: r.Start.Response, Offline: r.offline})
}

// keepResults writes down what the calls of a round came to: should this node be lost, whoever
// takes the turn up goes on from there. An answer that ends here is written down by its end.
func (r *Runner) keepResults(ctx context.Context) error {
	if r.stop {
		return nil
	}
	mine, err := r.save(ctx)
	switch {
	case err != nil && ctx.Err() == nil: // "unknown" would be the truth then
		r.S.log.WarnContext(ctx, "results of calls not kept yet", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	case err == nil && !mine:
		return sessions.ErrTakenForLost()
	}
	r.S.tellFollowers(r.Turn.ID)
	return nil
}

// runCall runs one call and returns its message. A call that is not idempotent runs to its end
// even when the answer is cancelled meanwhile: half of it may have happened already.
func (r *Runner) runCall(ctx context.Context, p *pendingCall) (result sessions.Message) {
	begun := r.S.sessions.Now()
	defer func() {
		if panicked := recover(); panicked != nil {
			r.S.log.ErrorContext(ctx, "tool panicked", "session_id", p.params.SessionID, "turn_id", p.params.TurnID, "tool", p.Call.Name, "panic", fmt.Sprint(panicked))
			result = r.refused(p, begun, string(failure.Internal), "The tool failed inside the service. Go on without it.")
		}
	}()
	switch {
	case !p.known && p.withheld != nil:
		return r.refused(p, begun, string(p.withheld.Code), p.withheld.Message)
	case !p.known && p.broken != "":
		return r.refused(p, begun, string(failure.ArgumentsInvalid), "The arguments were not a JSON object. Call the tool again with arguments that match its schema.")
	case !p.known:
		return r.refused(p, begun, codeUnknownTool, "There is no tool named "+p.Call.Name+" here, or it is off. Answer without it.")
	}
	var word *sessions.CallApproval
	if p.params.Refused = p.withheld; p.withheld == nil {
		word, p.params.Refused = r.approved(ctx, p)
	}
	if ctx.Err() != nil {
		return r.refused(p, begun, sessions.CodeUnfinished, sessions.OutputUnfinished)
	}
	if !p.entry.Idempotent() {
		var cancel context.CancelFunc
		ctx, cancel = r.S.outlive(ctx)
		defer cancel()
	}
	p.params.Untracked = r.offline || r.S.Offline()
	outcome := r.S.tools.Call(ctx, p.params)
	r.S.KeepTrace(ctx, TraceParams{Session: r.Session, Turn: r.Turn.ID, Offline: r.offline, Trace: outcome.Untraced})
	result = sessions.Message{
		Role: sessions.RoleTool, ItemID: p.Call.ItemID, CallID: p.Call.ID, Text: sessions.StorableText(outcome.Output),
		At: sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun)),
		Result: &sessions.CallResult{
			ToolID: string(p.entry.Tool.ID), StatusCode: outcome.StatusCode, LatencyMS: sessions.Milliseconds(outcome.Latency),
			Attempts: outcome.Attempts, StartedAt: outcome.StartedAt, Approval: word,
		},
	}
	if outcome.StartedAt.IsZero() {
		result.Result.StartedAt = begun
	}
	if outcome.Error != nil {
		result.Result.ErrorCode, result.Result.ErrorMessage = string(outcome.Error.Code), outcome.Error.Message
		return result
	}
	p.assigned, result.Result.Assigned = assignments(p.entry.Tool.Config.Assignments, outcome)
	return result
}

// refused is the result of a call that was not made.
func (r *Runner) refused(p *pendingCall, begun time.Time, code, message string) sessions.Message {
	return sessions.Message{
		Role: sessions.RoleTool, ItemID: p.Call.ItemID, CallID: p.Call.ID, Text: sessions.ErrorText(code, message),
		At:     sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun)),
		Result: &sessions.CallResult{ToolID: string(p.entry.Tool.ID), ErrorCode: code, ErrorMessage: message, StartedAt: begun},
	}
}
