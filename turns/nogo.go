package turns

import (
	"cmp"
	"context"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/agents/judge"
	"parlance.dev/parlance/agents/nogo"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/turns/prompt"
)

// guardNoGo is the guard of the no-go zones in receipts; its rule is whose words matched by what
// ("user:phrase"), its subject the zone.
const guardNoGo = "no_go"

// Whose words are in a zone. Source: event escalation.triggered. The arguments of calls are the
// agent's words; only receipts tell them apart.
const (
	sideUser  = "user"
	sideAgent = "agent"
	sideCall  = "call"
)

// verdictAllowed is that of a judge that failed, where words are passed on then.
const verdictAllowed = "allowed"

// zoneVerdicts are the verdicts of receipts by the actions of zones.
var zoneVerdicts = map[string]string{agents.GuardBlock: "blocked", agents.GuardEscalate: "escalated", agents.GuardEnd: "ended"}

// ZoneOf returns the first guard in whose zone a text is that is said or stored outside of a turn;
// nil: none is. Judges are not asked. Errors: those of guards that cannot be used.
func (s *Service) ZoneOf(ctx context.Context, session sessions.Session, text string) (*agents.Guard, error) {
	return s.zones.First(ctx, session.AgentID, session.ConfigVersion(), session.Config, text)
}

// greeting is what an agent says first: its first_message, or the reply of the guard in whose zone
// that is. Variables and overrides are in it, which may be a client's.
func (s *Service) greeting(ctx context.Context, session sessions.Session, text string) (string, error) {
	guard, err := s.ZoneOf(ctx, session, text)
	if err != nil || guard == nil {
		return text, err
	}
	return guard.Reply, nil
}

// screening returns what looks at the turn's texts; nil: the agent has no guards.
func (r *Runner) screening(ctx context.Context) (*judge.Screen, error) {
	zones, err := r.S.zones.Of(r.Session.AgentID, r.Session.ConfigVersion(), r.Session.Config)
	if err != nil || zones == nil || r.screen != nil {
		return r.screen, err
	}
	config := r.Session.Config
	rules := config.JudgeRules()
	if len(rules) == 0 {
		r.screen = judge.NewScreen(zones, nil)
		return r.screen, nil
	}
	choice, own := config.JudgeModel()
	var provider model.Provider
	if own {
		provider, err = r.answering(ctx)
	} else {
		provider, err = r.provider(ctx, choice)
	}
	if err != nil { // the judge fails then, and on_failure says what follows
		r.S.log.WarnContext(ctx, "no model for the judge of guards", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
		provider = nil
	}
	r.screen = judge.NewScreen(zones, &judge.Judge{
		Provider: provider, Model: choice.Name, Rules: rules, Now: r.S.sessions.Now,
		Fence:    prompt.Fence(r.S.fenceKey, r.Session.ID, string(r.Turn.ID)+" "+judge.Purpose),
		Metadata: map[string]string{"session_id": string(r.Session.ID), "turn_id": string(r.Turn.ID)},
	})
	return r.screen, nil
}

// guardUser looks at what came from the client, before anything else sees it: what the user said,
// notes of the application, instructions of a client, and what a client inserted as the agent's
// words and calls. given are messages
// that are not the turn's own. stopped says that something is in a zone, and that the turn is
// answered.
func (r *Runner) guardUser(ctx context.Context, given []sessions.Message) (stopped bool, err error) {
	given = slices.Clone(given)
	for i := range given { // whoever said it, the client wrote it
		given[i].Inserted = given[i].Role == sessions.RoleAssistant
	}
	text := cmp.Or(sessions.ClientText(slices.Concat(r.Turn.Messages, given)), r.Turn.UserText)
	if r.Instructions != nil {
		text += sessions.BetweenMessages + *r.Instructions
	}
	zone, err := r.zoneOf(ctx, sideUser, text)
	if err != nil || zone == nil {
		return false, err
	}
	for i := range r.Turn.Messages {
		r.Turn.Messages[i].Withheld = r.Turn.Messages[i].IsClients()
	}
	return true, r.guarded(ctx, *zone, sideUser)
}

// zoneOf is the first zone that a whole text is in; nil: it is in none. Asking a judge takes a slot
// of the gate, so it is not called while another call of the turn holds one.
func (r *Runner) zoneOf(ctx context.Context, side, text string) (*nogo.Match, error) {
	screen, err := r.screening(ctx)
	if err != nil || screen == nil || text == "" {
		return nil, err
	}
	if screen.Asks() {
		leave, err := r.S.gate.Enter(ctx, string(r.Session.TenantID))
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	match, err := screen.FindFirst(ctx, text)
	r.countJudge(ctx, side)
	return match, err
}

// countJudge counts the calls of the judge and says when it failed.
func (r *Runner) countJudge(ctx context.Context, side string) {
	for _, call := range r.screen.TakeCalls() {
		r.Receipt.JudgeCall(call.Request, call.Result, call.Err, call.Asked, call.Answered)
		r.Turn.InputTokens += call.Result.Usage.InputTokens
		r.Turn.OutputTokens += call.Result.Usage.OutputTokens
		r.S.metrics.judged.WithLabelValues(call.Outcome).Observe(call.Answered.Sub(call.Asked).Seconds())
		if call.Err != nil && ctx.Err() == nil {
			r.S.log.WarnContext(ctx, "the judge of guards failed", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", r.loggable(call.Err))
		}
	}
	for _, zone := range r.screen.Allowed() {
		made := sessions.ReceiptGuard{
			Guard: guardNoGo, Rule: side + ":" + nogo.ByJudgeFailed, Subject: r.Session.Config.Guards[zone].Name, Verdict: verdictAllowed,
		}
		known := func(g sessions.ReceiptGuard) bool {
			return g.Verdict == made.Verdict && g.Subject == made.Subject
		}
		if !slices.ContainsFunc(r.Receipt.Guards, known) {
			r.countVerdict(made)
		}
	}
}

// countVerdict puts a verdict into the receipt and the metrics.
func (r *Runner) countVerdict(made sessions.ReceiptGuard) {
	r.Receipt.Guards = append(r.Receipt.Guards, made)
	r.S.metrics.guards.WithLabelValues(made.Guard, made.Verdict, made.Rule).Inc()
}

// guarded does what the zone of a match says: the reply, the announcement, the end.
func (r *Runner) guarded(ctx context.Context, match nogo.Match, side string) error {
	zone := r.enter(match, side)
	r.Turn.Citations, r.stop = nil, true
	if side == sideAgent {
		r.finish = model.FinishFiltered
	}
	if err := r.tellZone(zone, side); err != nil {
		return err
	}
	return cmp.Or(r.sayReply(zone), ctx.Err())
}

// enter records that words are in a zone, and has the end of the turn do what its action says. When
// the judge failed, words are only blocked: nobody knows whether they are in the zone.
func (r *Runner) enter(match nogo.Match, side string) agents.Guard {
	zone := r.Session.Config.Guards[match.Zone]
	if match.By == nogo.ByJudgeFailed {
		zone.Action = agents.GuardBlock
	}
	r.countVerdict(sessions.ReceiptGuard{
		Guard: guardNoGo, Rule: side + ":" + match.By, Subject: zone.Name, Verdict: zoneVerdicts[zone.Action],
	})
	switch {
	case zone.Action == agents.GuardEscalate && r.end.Escalation == nil:
		r.end.Escalation = &Escalation{Guard: zone.Name, Side: publicSide(side), MatchedBy: match.By}
		if r.Session.Config.Handover.Enabled {
			r.requestHandover(handover.Request{Reason: zone.Name})
		}
	case zone.Action == agents.GuardEnd:
		r.end.EndCall = true
	}
	return zone
}

// publicSide is the side in events: the arguments of a call are the agent's words.
func publicSide(side string) string {
	if side == sideCall {
		return sideAgent
	}
	return side
}

// tellZone tells the client that words are in a zone.
func (r *Runner) tellZone(zone agents.Guard, side string) error {
	return r.send(ZoneEntered{ResponseID: r.ResponseID, Guard: zone.Name, Action: zone.Action, Side: publicSide(side)})
}

// sayReply says the reply of a zone, if it has one.
func (r *Runner) sayReply(zone agents.Guard) error {
	if zone.Reply == "" {
		return nil
	}
	return r.sayFixed(zone.Reply)
}

// sayFixed says a text that no model wrote, as a message of its own.
func (r *Runner) sayFixed(text string) error {
	said := r.newMessage()
	said.Text, said.At = text, sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun))
	r.Turn.Messages = append(r.Turn.Messages, said)
	for _, e := range []Event{
		MessageStarted{ResponseID: r.ResponseID, ItemID: said.ItemID},
		TextDelta{ResponseID: r.ResponseID, ItemID: said.ItemID, Text: text},
		MessageDone{ResponseID: r.ResponseID, ItemID: said.ItemID, Text: text},
	} {
		if err := r.send(e); err != nil {
			return err
		}
	}
	return nil
}

// filter passes a model's words on up to a zone. Without guards it passes everything on.
type filter struct {
	say     func(string) error
	guarded *judge.Filter
}

// newFilter makes the filter of one answer. stop ends the model's call.
func (r *Runner) newFilter(ctx context.Context, say func(string) error, stop func()) (*filter, error) {
	screen, err := r.screening(ctx)
	if err != nil || screen == nil {
		return &filter{say: say}, err
	}
	return &filter{guarded: screen.NewFilter(judge.FilterParams{
		Before: sessions.AgentText(r.Turn.Messages), Say: say, Stop: stop,
	})}, nil
}

func (f *filter) write(ctx context.Context, text string) error {
	if f.guarded == nil {
		return f.say(text)
	}
	return f.guarded.Write(ctx, text)
}

// finish is called when the model's call has ended, also with an error.
func (f *filter) finish(ctx context.Context, err error) (*nogo.Match, error) {
	if f.guarded == nil {
		return nil, err
	}
	return f.guarded.Finish(ctx, err)
}
