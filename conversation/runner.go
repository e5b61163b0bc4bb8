package conversation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/tools"
)

// runner takes one turn. It is used by one goroutine; only the calls of a round run beside it.
type runner struct {
	s *Service
	// start is the turn to take.
	start turnStart
	// config, when set, is used instead of the session's: what a socket configured.
	config *agents.Config
	// options are what a socket asks of the answer.
	options
	// aside says that it is out of band: see aside.go.
	aside bool
	// origin is the socket's request, which the turn's trace points to; nil: the turn is part of
	// the request that ctx is of.
	origin *telemetry.Origin
	// commandID and responseID go into the events.
	commandID  string
	responseID string
	// emit hands events on. Its error stops the turn.
	emit func(Event) error

	session Session
	turn    Turn
	begun   time.Time
	// making is what the receipt will say.
	making making
	// given is how many of the turn's messages were there when it began.
	given int
	// finish is why the model stopped.
	finish model.FinishReason
	// firstToken is from begun to the first piece of the answer; 0: none yet.
	firstToken time.Duration
	earlier    []Message
	// before are the turns that earlier is of, summary what is told of those before them.
	before  past
	summary summary
	// looked is what is known of the texts lookedAt; see withhold.go.
	looked *outside
	// ahead looks for passages since before the turn began; nil: nothing does.
	ahead    *lookahead
	lookedAt []piece
	passages []Passage
	// recalled is what is remembered of the user.
	recalled []memory.Item
	tools    tools.Registry
	values   tools.Variables
	with     finishing
	stop     bool
	// adrift says that the turn was begun without Postgres, unreachable that no passages could be looked up.
	adrift, unreachable bool
	// interrupted says that the user's speech stopped it.
	interrupted bool
	// approvals are the calls that wait for somebody's word; nil: there is nobody to ask.
	approvals *approvals
	// recorded is closed when the turn has been written down, or could not be.
	recorded chan struct{}
}

// ran is how a turn went.
type ran struct {
	// turn as it is recorded.
	turn Turn
	// session behind it.
	session Session
	// err is why there is no answer, or only part of one; nil when it completed.
	err error
	// stopped says that somebody asked for the turn to be stopped.
	stopped bool
}

// run takes the turn from the lease to the last event. Whatever happens, a turn that was begun
// is recorded.
func (r *runner) run(ctx context.Context) (went ran) {
	defer func() { // the one of answer leaves the turn recorded; this one leaves it to be taken for lost
		if panicked := recover(); panicked != nil {
			went = ran{session: r.session, turn: Turn{ID: r.start.turn}, err: fmt.Errorf("taking a turn panicked: %v", panicked)}
			r.s.log.ErrorContext(ctx, "turn panicked", "session_id", r.start.session, "turn_id", r.start.turn, "error", panicked, telemetry.KeyStack, string(debug.Stack()))
		}
	}()
	ctx, span, l := r.depart(ctx)
	defer func() { r.endTrace(span, went) }()
	defer r.s.release(r.start.turn, l)
	defer r.ahead.stop()
	session, turn, alone, err := r.begin(ctx, l)
	note(ctx, session)
	if err != nil {
		return ran{session: session, turn: Turn{ID: r.start.turn}, err: err}
	}
	if r.adrift = alone; alone {
		defer r.s.landTurn(r.start)
	} else {
		l.renewed.Go(func() { r.s.renew(ctx, r.start, l) })
	}
	r.recorded = make(chan struct{})
	defer close(r.recorded)
	r.session, r.turn, r.given, r.begun = session, turn, len(turn.Messages), r.s.moment()
	r.making.stage(stageLease, r.making.asked, r.begun)
	if r.config != nil {
		r.session.Config = *r.config
	}
	err = r.tell(ResponseStarted{ResponseID: r.responseID, TurnID: turn.ID, TurnIndex: turn.Index, CommandID: r.commandID})
	if err == nil {
		err = r.answer(ctx)
	}
	err = r.judge(ctx, err)
	r.turn.putReceipt(session, &r.making)
	after, recorded, finishErr := r.record(ctx)
	switch {
	case finishErr != nil:
		r.s.log.ErrorContext(ctx, "turn not recorded", "session_id", session.ID, "turn_id", turn.ID, "error", finishErr)
		err = finishErr
		r.turn.Status = TurnFailed
	case !recorded && err == nil:
		err = closedError(after)
		r.turn.Status = TurnCancelled
	}
	if finishErr == nil && !recorded { // somebody took the turn for lost, and did not know what its calls came to
		r.s.correct(ctx, r.session.TenantID, r.session.ID, r.turn.ID, r.turn.Messages, r.with.assigned)
	}
	if finishErr == nil && recorded {
		r.start.recall.finished(r.turn, after)
		r.tellNodes(ctx)
		r.summarise(ctx, after)
	}
	done := r.done(err)
	_ = r.emit(done) // nobody may be left to hear it; the turn is recorded
	return ran{turn: r.turn, session: after, err: err, stopped: errors.Is(context.Cause(ctx), errStopped) && r.turn.Status == TurnCancelled}
}

// depart is what comes before the turn is begun: its trace, the hold on it, and the search for passages.
func (r *runner) depart(ctx context.Context) (context.Context, *telemetry.Span, *lease) {
	if e := r.start.early; e != nil {
		return e.ctx, e.span, e.lease
	}
	ctx, span := r.trace(ctx)
	r.making = making{asked: r.start.asked, prices: r.s.prices}
	if r.making.asked.IsZero() {
		r.making.asked = r.s.moment()
	}
	ctx, l := r.s.hold(ctx, r.start, r.approvals)
	r.ahead = r.lookAhead(ctx)
	return ctx, span, l
}

// begin is Service.begin, unless that has been done.
func (r *runner) begin(ctx context.Context, l *lease) (Session, Turn, bool, error) {
	if e := r.start.early; e != nil {
		return e.session, e.turn, false, nil
	}
	return r.s.begin(ctx, r.start, l)
}

// judge writes into the turn how it went, and returns the error as its caller may see it.
func (r *runner) judge(ctx context.Context, err error) error {
	now := r.s.moment()
	r.turn.EndedAt = now
	r.turn.Metrics.TotalMS = milliseconds(now.Sub(r.making.asked))
	r.turn.Messages = settle(r.turn.Messages, codeUnfinished, outputUnfinished)
	r.turn.AgentText = agentText(r.turn.Messages)
	_, gone := errors.AsType[goneError](err)
	switch {
	case err == nil:
		r.turn.Status, r.turn.Metrics.Incomplete = TurnCompleted, incomplete[r.finish]
		return nil
	case gone || ctx.Err() != nil:
		r.turn.Status = TurnCancelled
		r.interrupted = errors.Is(context.Cause(ctx), errInterrupted)
		switch {
		case errors.Is(context.Cause(ctx), errLeaseLost):
			return errTakenForLost()
		case errors.Is(context.Cause(ctx), errEnding):
			return fault.Wrap(err, fault.SessionClosed, "The session was ended while it answered.")
		}
		return fault.Wrap(err, fault.CallerCanceled, "The answer was cancelled.")
	}
	decided := postgres.Decide(err)
	r.turn.Status, r.turn.ErrorCode, r.turn.ErrorMessage = TurnFailed, string(decided.Reason), decided.Message
	r.s.log.WarnContext(ctx, "turn failed", "session_id", r.session.ID, "turn_id", r.turn.ID, "reason", decided.Reason, "error", err)
	return decided
}

// incomplete is why an answer that ended well is not whole.
var incomplete = map[model.FinishReason]string{model.FinishLength: ReasonMaxOutputTokens, model.FinishFiltered: ReasonContentFilter}

// done is the last event of the turn.
func (r *runner) done(err error) ResponseDone {
	done := ResponseDone{
		ResponseID: r.responseID, TurnID: r.turn.ID, Status: ResponseStatus(r.turn.Status), Items: r.answered(),
		Text: r.turn.AgentText, Citations: r.turn.Citations, Usage: r.turn.Usage(),
	}
	switch {
	case r.turn.Status == TurnFailed:
		done.Err = postgres.Decide(err)
	case r.turn.Status == TurnCancelled && r.interrupted:
		done.Reason = ReasonTurnDetected
	case r.turn.Status == TurnCancelled:
		done.Reason = ReasonClientCancelled
	case r.turn.Metrics.Incomplete != "":
		done.Status, done.Reason = ResponseIncomplete, r.turn.Metrics.Incomplete
	}
	return done
}

// answered are the turn's items but for what the user said.
func (r *runner) answered() []Item {
	var items []Item
	for _, item := range itemsOf(r.turn) {
		if item.Kind != UserItem && item.Kind != SystemItem && item.Kind != ToolOutputItem && !item.Put {
			items = append(items, item)
		}
	}
	return items
}

// goneError says that emit failed: whoever asked has gone.
type goneError struct{ err error }

func (e goneError) Error() string { return "handing on the answer: " + e.err.Error() }
func (e goneError) Unwrap() error { return e.err }

// tell emits an event on the way; its failure ends the turn as cancelled.
func (r *runner) tell(e Event) error {
	if err := r.emit(e); err != nil {
		return goneError{err}
	}
	return nil
}

// answer does the work of the turn and leaves what was said in it. A panic of a provider or tool
// fails the turn, not the node.
func (r *runner) answer(ctx context.Context) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the turn panicked: %v\n%s", panicked, debug.Stack())
		}
	}()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	provider, err := r.answering(ctx)
	if err != nil {
		return upstream(err)
	}
	for range maxToolRounds {
		calls, err := r.speak(ctx, provider, r.request(true))
		if err != nil || len(calls) == 0 {
			return err
		}
		r.turn.Metrics.ToolRounds++
		if err := r.callTools(ctx, calls); err != nil || r.stop {
			return err
		}
	}
	r.turn.Metrics.RoundsExhausted = true
	calls, err := r.speak(ctx, provider, r.request(false))
	if err != nil || len(calls) == 0 {
		return err
	}
	return r.refuseRound(ctx, calls)
}

// prepare collects what the model needs: earlier turns, passages, tools. Passages and tools that
// cannot be had are gone without: an answer without them is better than none.
func (r *runner) prepare(ctx context.Context) error {
	err := adrift(errAway)
	if !r.adrift {
		err = r.s.attached(ctx, r.session.ID, r.prepareAttached)
	}
	if r.s.isAdrift(err) {
		return r.prepareAdrift(ctx)
	}
	if err == nil {
		r.start.recall.prepared(r)
	}
	return err
}

func (r *runner) prepareAttached(ctx context.Context) error {
	if err := r.remember(ctx); err != nil {
		return err
	}
	var err error
	if r.values, err = r.s.variables(ctx, r.session); err != nil {
		return err
	}
	r.recall(ctx)
	r.retrieve(ctx)
	if r.s.tools == nil || r.aside {
		return ctx.Err()
	}
	begun := r.s.moment()
	defer func() { r.making.stage(stageToolList, begun, r.s.moment()) }()
	var ahead *tools.Prefetch
	if known := r.start.known.asked(); known != nil {
		ahead = &known.tools
	}
	if r.tools, err = r.s.tools.ComposeSession(ctx, r.session.Ref(), agentOf(r.session), string(r.session.ID), r.values, ahead); err != nil && ctx.Err() == nil {
		r.s.log.ErrorContext(ctx, "tools left out of the turn", "session_id", r.session.ID, "turn_id", r.turn.ID, "error", err)
		if r.start.recall != nil && postgres.IsAway(err) {
			return err
		}
	}
	return ctx.Err()
}

// remember reads what of the earlier turns the model sees.
func (r *runner) remember(ctx context.Context) error {
	begun := r.s.moment()
	var told summary
	if known := r.start.known.asked(); known != nil {
		told = known.summary
	} else {
		var err error
		if told, err = selectSummary(ctx, r.s.db, r.session); err != nil {
			return fmt.Errorf("reading summary: %w", err)
		}
	}
	session := r.session
	session.SummarizedTurns = told.Turns // it may have been written since the session was read
	before, err := readPast(ctx, r.s.db, session, r.turn.ID, historyBudget(r.session), r.start.known)
	if err != nil {
		return err
	}
	r.summary = told
	r.before, r.earlier = before, before.messages()
	r.making.history = &ReceiptHistory{Turns: len(before.turns), Tokens: before.tokens, SummarizedTurns: told.Turns}
	if told.Text != "" {
		r.making.history.SummaryHash = hashOf(told.Text)
	}
	r.making.stage(stageHistory, begun, r.s.moment())
	return nil
}

// retrieve finds passages for what the user said.
func (r *runner) retrieve(ctx context.Context) {
	if !r.s.askable(r.turn.UserText) {
		return
	}
	was, looked := r.ahead.take(ctx, r.start.known, r.turn.UserText)
	if !looked {
		var sources SourcesAhead
		if known := r.start.known.asked(); known != nil {
			sources = known.sources
		}
		was = r.lookFor(ctx, r.session, r.turn.UserText, sources)
	}
	r.turn.Retrieval = was.retrieval
	r.making.stage(stageRetrieval, was.begun, was.ended)
	r.turn.Metrics.RetrievalMS = milliseconds(was.ended.Sub(was.begun))
	if was.err != nil {
		r.unreachable = true
		if ctx.Err() == nil {
			r.s.log.WarnContext(ctx, "turn without passages", "session_id", r.session.ID, "turn_id", r.turn.ID, "error", was.err)
		}
		return
	}
	r.passages, r.turn.Citations = was.passages, citationsOf(was.passages)
	r.making.passages = was.passages
}

// request is what the model is asked now.
func (r *runner) request(withTools bool) model.Request {
	config := r.session.Config
	instructions := config.Instructions
	if r.instructions != nil {
		instructions = *r.instructions
	}
	// Both together, so that a client's result of this turn meets its call of the one before.
	p := prompt{
		instructions: instructions, session: r.session, turn: r.turn.ID, values: r.values.Public, memory: memoryLines(r.recalled), summary: r.summary.Text, passages: r.passages,
		said: r.visible(), goOn: r.goOn(), unreachable: r.unreachable,
	}
	req := model.Request{
		Model: config.Model.Name, System: p.system(),
		Messages: p.messages(), Temperature: config.Model.Temperature, MaxOutputTokens: config.Model.MaxOutputTokens,
		Passages: modelPassages(r.passages), Memories: modelMemories(r.recalled), Unreachable: r.unreachable,
		Metadata: map[string]string{"session_id": string(r.session.ID), "turn_id": string(r.turn.ID)},
	}
	if !withTools {
		req.System = strings.TrimSpace(req.System + "\n\n" + noMoreTools)
		r.apply(&req, false)
		return req
	}
	for tool := range r.tools.Offered() {
		req.Tools = append(req.Tools, model.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema})
	}
	for _, tool := range r.clientTools {
		if _, taken := r.tools.Find(tool.Name); !taken {
			req.Tools = append(req.Tools, tool)
		}
	}
	r.apply(&req, r.turn.Metrics.ToolRounds == 0)
	return req
}

func milliseconds(d time.Duration) int { return int(max(0, d.Milliseconds())) }
