package turns

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// Runner takes one turn. It is used by one goroutine; only the calls of a round run beside it.
type Runner struct {
	S *Service
	// Start is the turn to take.
	Start Start
	// config, when set, is used instead of the session's: what a socket configured.
	Config *agents.Config
	// options are what a socket asks of the answer.
	Options
	// Aside says that it is out of band: see aside.go.
	Aside bool
	// Origin is the socket's request, which the turn's trace points to; nil: the turn is part of
	// the request that ctx is of.
	Origin *telemetry.Origin
	// commandID and responseID go into the events.
	CommandID  string
	ResponseID string
	// Emit hands events on. Its error stops the turn.
	Emit func(Event) error

	Session sessions.Session
	Turn    sessions.Turn
	Begun   time.Time
	// Receipt is what the receipt will say.
	Receipt sessions.ReceiptBuilder
	// given is how many of the turn's messages were there when it began.
	given int
	// finish is why the model stopped.
	finish model.FinishReason
	// firstToken is from begun to the first piece of the answer; 0: none yet.
	firstToken time.Duration
	Earlier    []sessions.Message
	// before are the turns that earlier is of, summary what is told of those before them.
	before  past
	summary Summary
	// looked is what is known of the texts lookedAt; see withhold.go.
	looked   *guards.Findings
	lookedAt []guards.Text
	passages []sessions.Passage
	// recalled is what is remembered of the user.
	recalled []memory.Item
	tools    tools.Registry
	values   tools.Variables
	end      FinishParams
	stop     bool
	// begun is what the turn was begun with; nil for an answer out of band.
	begun *Begun
	// offline says that the turn was begun without Postgres, unreachable that no passages could be
	// looked up.
	offline, unreachable bool
	// interrupted says that the user's speech stopped it.
	interrupted bool
	// Approvals are the calls that wait for somebody's word; nil: there is nobody to ask.
	Approvals *Approvals
	// recorded is closed when the turn has been written down, or could not be.
	recorded chan struct{}
}

// Outcome is how a turn went.
type Outcome struct {
	// turn as it is recorded.
	Turn sessions.Turn
	// session behind it.
	Session sessions.Session
	// Err is why there is no answer, or only part of one; nil when it completed.
	Err error
	// stopped says that somebody asked for the turn to be stopped.
	stopped bool
}

// Run takes the turn from the lease to the last event. Whatever happens, a turn that was begun
// is recorded.
func (r *Runner) Run(ctx context.Context) (went Outcome) {
	defer func() { // the one of answer leaves the turn recorded; this one leaves it to be taken for lost
		if panicked := recover(); panicked != nil {
			went = Outcome{Session: r.Session, Turn: sessions.Turn{ID: r.Start.Turn}, Err: fmt.Errorf("taking a turn panicked: %v", panicked)}
			r.S.log.ErrorContext(ctx, "turn panicked", "session_id", r.Start.Session.ID, "turn_id", r.Start.Turn,
				"error", panicked, telemetry.KeyStack, string(debug.Stack()))
		}
	}()
	ctx, span := r.Trace(ctx)
	defer func() { r.EndTrace(span, went) }()
	r.Receipt = sessions.ReceiptBuilder{Asked: r.Start.Asked, Prices: r.S.prices}
	if r.Receipt.Asked.IsZero() {
		r.Receipt.Asked = r.S.sessions.Now()
	}
	ctx, l := r.S.hold(ctx, r.Start, r.Approvals)
	defer r.S.release(r.Start.Turn, l)
	begun, err := r.S.begin(ctx, &r.Start, l)
	session, turn := begun.Session, begun.Turn
	sessions.AddToLog(ctx, session)
	if err != nil {
		return Outcome{Session: session, Turn: sessions.Turn{ID: r.Start.Turn}, Err: err}
	}
	if begun.Release != nil {
		defer begun.Release()
	}
	if r.begun, r.offline = &begun, begun.Offline; !r.offline {
		l.renewed.Go(func() { r.S.renew(ctx, r.Start, l) })
	}
	r.recorded = make(chan struct{})
	defer close(r.recorded)
	r.Session, r.Turn, r.given, r.Begun = session, turn, len(turn.Messages), r.S.sessions.Now()
	r.Receipt.Stage(sessions.StageLease, r.Receipt.Asked, r.Begun)
	if r.Config != nil {
		r.Session.Config = *r.Config
	}
	err = r.Tell(ResponseStarted{ResponseID: r.ResponseID, TurnID: turn.ID, TurnIndex: turn.Index, CommandID: r.CommandID})
	if err == nil {
		err = r.answer(ctx)
	}
	err = r.Judge(ctx, err)
	r.Turn.PutReceipt(session, &r.Receipt)
	finished, finishErr := r.record(ctx)
	after, recorded := finished.Session, finished.Recorded
	switch {
	case finishErr != nil:
		r.S.log.ErrorContext(ctx, "turn not recorded", "session_id", session.ID, "turn_id", turn.ID, "error", finishErr)
		err = finishErr
		r.Turn.Status = sessions.TurnFailed
	case !recorded && err == nil:
		err = sessions.ClosedError(after)
		r.Turn.Status = sessions.TurnCancelled
	}
	if finishErr == nil && !recorded { // somebody took the turn for lost, and did not know what its calls came to
		r.S.addResults(ctx, ResultParams{Session: r.Session, Turn: r.Turn.ID, Results: r.Turn.Messages, Assigned: r.end.Assigned})
	}
	if finishErr == nil && recorded {
		r.tellNodes(ctx)
		r.summarise(ctx, after)
	}
	done := r.Done(err)
	_ = r.Emit(done) // nobody may be left to hear it; the turn is recorded
	stopped := errors.Is(context.Cause(ctx), ErrStopped) && r.Turn.Status == sessions.TurnCancelled
	return Outcome{Turn: r.Turn, Session: after, Err: err, stopped: stopped}
}

// Judge writes into the turn how it went, and returns the error as its caller may see it.
func (r *Runner) Judge(ctx context.Context, err error) error {
	now := r.S.sessions.Now()
	r.Turn.EndedAt = now
	r.Turn.Metrics.TotalMS = sessions.Milliseconds(now.Sub(r.Receipt.Asked))
	r.Turn.Messages = sessions.SettleOpenCalls(r.Turn.Messages, sessions.CodeUnfinished, sessions.OutputUnfinished)
	r.Turn.AgentText = sessions.AgentText(r.Turn.Messages)
	_, gone := errors.AsType[goneError](err)
	switch {
	case err == nil:
		r.Turn.Status, r.Turn.Metrics.Incomplete = sessions.TurnCompleted, incomplete[r.finish]
		return nil
	case gone || ctx.Err() != nil:
		r.Turn.Status = sessions.TurnCancelled
		r.interrupted = errors.Is(context.Cause(ctx), ErrInterrupted)
		switch {
		case errors.Is(context.Cause(ctx), sessions.ErrLeaseLost):
			return sessions.ErrTakenForLost()
		case errors.Is(context.Cause(ctx), ErrEnding):
			return fault.Wrap(err, fault.SessionClosed, "The session was ended while it answered.")
		}
		return fault.Wrap(err, fault.CallerCanceled, "The answer was cancelled.")
	}
	decided := postgres.Decide(err)
	r.Turn.Status, r.Turn.ErrorCode, r.Turn.ErrorMessage = sessions.TurnFailed, string(decided.Reason), decided.Message
	r.S.log.WarnContext(ctx, "turn failed", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "reason", decided.Reason, "error", err)
	return decided
}

// incomplete is why an answer that ended well is not whole.
var incomplete = map[model.FinishReason]string{model.FinishLength: ReasonMaxOutputTokens, model.FinishFiltered: ReasonContentFilter}

// Done is the last event of the turn.
func (r *Runner) Done(err error) ResponseDone {
	done := ResponseDone{
		ResponseID: r.ResponseID, TurnID: r.Turn.ID, Status: ResponseStatus(r.Turn.Status), Items: r.answered(),
		Text: r.Turn.AgentText, Citations: r.Turn.Citations, Usage: r.Turn.Usage(),
	}
	switch {
	case r.Turn.Status == sessions.TurnFailed:
		done.Err = postgres.Decide(err)
	case r.Turn.Status == sessions.TurnCancelled && r.interrupted:
		done.Reason = ReasonTurnDetected
	case r.Turn.Status == sessions.TurnCancelled:
		done.Reason = ReasonClientCancelled
	case r.Turn.Metrics.Incomplete != "":
		done.Status, done.Reason = ResponseIncomplete, r.Turn.Metrics.Incomplete
	}
	return done
}

// answered are the turn's items but for what the user said.
func (r *Runner) answered() []sessions.Item {
	var items []sessions.Item
	for _, item := range sessions.ItemsOf(r.Turn) {
		if item.Kind != sessions.UserItem && item.Kind != sessions.SystemItem && item.Kind != sessions.ToolOutputItem && !item.Put {
			items = append(items, item)
		}
	}
	return items
}

// goneError says that emit failed: whoever asked has gone.
type goneError struct{ err error }

func (e goneError) Error() string { return "handing on the answer: " + e.err.Error() }

func (e goneError) Unwrap() error { return e.err }

// Tell emits an event on the way; its failure ends the turn as cancelled.
func (r *Runner) Tell(e Event) error {
	if err := r.Emit(e); err != nil {
		return goneError{err}
	}
	return nil
}

// answer does the work of the turn and leaves what was said in it. A panic of a provider or tool
// fails the turn, not the node.
func (r *Runner) answer(ctx context.Context) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the turn panicked: %v\n%s", panicked, debug.Stack())
		}
	}()
	if err := r.Prepare(ctx); err != nil {
		return err
	}
	provider, err := r.answering(ctx)
	if err != nil {
		return sessions.UpstreamFault(err)
	}
	for range maxToolRounds {
		calls, err := r.Speak(ctx, provider, r.Request(true))
		if err != nil || len(calls) == 0 {
			return err
		}
		r.Turn.Metrics.ToolRounds++
		if err := r.callTools(ctx, calls); err != nil || r.stop {
			return err
		}
	}
	r.Turn.Metrics.RoundsExhausted = true
	calls, err := r.Speak(ctx, provider, r.Request(false))
	if err != nil || len(calls) == 0 {
		return err
	}
	return r.refuseRound(ctx, calls)
}

// Prepare collects what the model needs: earlier turns, passages, tools. Passages and tools that
// cannot be had are gone without: an answer without them is better than none.
func (r *Runner) Prepare(ctx context.Context) error {
	var err error = OfflineError(errNotKept)
	if !r.offline {
		err = r.S.ReachSession(ctx, r.Session.ID, r.prepareAttached)
	}
	if IsOffline(err) {
		return r.prepareOffline(ctx)
	}
	if err == nil {
		r.Start.Cache.prepared(r)
	}
	return err
}

func (r *Runner) prepareAttached(ctx context.Context) error {
	if err := r.remember(ctx); err != nil {
		return err
	}
	var err error
	if r.values, err = r.S.Variables(ctx, r.Session); err != nil {
		return err
	}
	r.recall(ctx)
	r.retrieve(ctx)
	if r.S.tools == nil || r.Aside {
		return ctx.Err()
	}
	begun := r.S.sessions.Now()
	defer func() { r.Receipt.Stage(sessions.StageToolList, begun, r.S.sessions.Now()) }()
	var ahead *tools.Prefetch
	if r.begun != nil {
		ahead = r.begun.Tools
	}
	r.tools, err = r.S.tools.ComposeSession(ctx, r.Session.Ref(), AgentOf(r.Session), string(r.Session.ID), r.values, ahead)
	if err != nil && ctx.Err() == nil {
		r.S.log.ErrorContext(ctx, "tools left out of the turn", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
		if r.Start.Cache != nil && postgres.IsAway(err) {
			return err
		}
	}
	return ctx.Err()
}

// remember reads what of the earlier turns the model sees.
func (r *Runner) remember(ctx context.Context) error {
	begun := r.S.sessions.Now()
	var told Summary
	var first *HistoryPage
	if r.begun != nil {
		told, first = r.begun.Summary, &r.begun.History
	} else {
		found, err := selectSummary(ctx, r.S.db, r.Session)
		if err != nil {
			return fmt.Errorf("reading summary: %w", err)
		}
		told = Summary{Text: found.Text, Turns: found.Turns}
	}
	session := r.Session
	session.SummarizedTurns = told.Turns // it may have been written since the session was read
	before, err := r.S.readPast(ctx, session, r.Turn.ID, historyBudget(r.Session), first)
	if err != nil {
		return err
	}
	r.summary = told
	r.before, r.Earlier = before, before.messages()
	r.Receipt.History = &sessions.ReceiptHistory{Turns: len(before.turns), Tokens: before.tokens, SummarizedTurns: told.Turns}
	if told.Text != "" {
		r.Receipt.History.SummaryHash = sessions.HashOf(told.Text)
	}
	r.Receipt.Stage(sessions.StageHistory, begun, r.S.sessions.Now())
	return nil
}

// searchable says whether passages are looked for at all.
func (s *Service) searchable(text string) bool {
	return s.retriever != nil && text != "" && !strings.HasPrefix(text, "/tool ")
}

// retrieve finds passages for what the user said.
func (r *Runner) retrieve(ctx context.Context) {
	if !r.S.searchable(r.Turn.UserText) {
		return
	}
	settings, begun := r.Session.Config.Retrieval, r.S.sessions.Now()
	passages, retrieval, err := r.S.retriever.Retrieve(ctx, r.Session.Ref(), r.Session.AgentID, r.Turn.UserText, RetrieveParams{
		TopK: settings.TopK, MinSimilarity: settings.MinSimilarity, Ranking: settings.Ranking, Rerank: settings.Rerank,
	})
	ended := r.S.sessions.Now()
	r.Turn.Retrieval = retrieval
	r.Receipt.Stage(sessions.StageRetrieval, begun, ended)
	r.Turn.Metrics.RetrievalMS = sessions.Milliseconds(ended.Sub(begun))
	if err != nil {
		r.unreachable = true
		if ctx.Err() == nil {
			r.S.log.WarnContext(ctx, "turn without passages", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
		}
		return
	}
	r.passages, r.Turn.Citations = passages, citationsOf(passages)
	r.Receipt.Passages = passages
}

// provider is what answers for the agent.
func (r *Runner) provider(ctx context.Context) (model.Provider, error) {
	choose := r.S.models
	if r.begun != nil && !r.begun.OwnKeys && r.S.installed != nil {
		choose = r.S.installed
	}
	return choose(ctx, r.Session.Ref(), r.Session.Config.Model)
}

// Request is what the model is asked now.
func (r *Runner) Request(withTools bool) model.Request {
	config := r.Session.Config
	instructions := config.Instructions
	if r.Instructions != nil {
		instructions = *r.Instructions
	}
	// Both together, so that a client's result of this turn meets its call of the one before.
	p := prompt{
		instructions: instructions, session: r.Session, turn: r.Turn.ID, values: r.values.Public,
		memory: memoryLines(r.recalled), summary: r.summary.Text, passages: r.passages,
		said: r.visible(), goOn: r.goOn(), unreachable: r.unreachable,
	}
	req := model.Request{
		Model: config.Model.Name, System: p.system(),
		Messages: p.messages(), Temperature: config.Model.Temperature, MaxOutputTokens: config.Model.MaxOutputTokens,
		Passages: modelPassages(r.passages), Memories: modelMemories(r.recalled), Unreachable: r.unreachable,
		Metadata: map[string]string{"session_id": string(r.Session.ID), "turn_id": string(r.Turn.ID)},
	}
	if !withTools {
		req.System = strings.TrimSpace(req.System + "\n\n" + sessions.NoMoreTools)
		r.apply(&req, false)
		return req
	}
	for tool := range r.tools.Offered() {
		req.Tools = append(req.Tools, model.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema})
	}
	for _, tool := range r.ClientTools {
		if _, taken := r.tools.Find(tool.Name); !taken {
			req.Tools = append(req.Tools, tool)
		}
	}
	r.apply(&req, r.Turn.Metrics.ToolRounds == 0)
	return req
}
