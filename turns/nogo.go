package turns

import (
	"context"
	"errors"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/agents/nogo"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// guardNoGo is the guard of the no-go zones in receipts; its rule is whose words matched by what
// ("user:phrase"), its subject the zone.
const guardNoGo = "no_go"

// Whose words are in a zone. Source: event escalation.triggered.
const (
	sideUser  = "user"
	sideAgent = "agent"
)

// zoneVerdicts are the verdicts of receipts by the actions of zones.
var zoneVerdicts = map[string]string{agents.GuardBlock: "blocked", agents.GuardEscalate: "escalated", agents.GuardEnd: "ended"}

// errZone stops a model whose words are in a zone.
var errZone = errors.New("the model's words are in a no-go zone")

// zones are the session's agent's; nil: it has none.
func (r *Runner) zones() (*nogo.Zones, error) {
	if len(r.Session.Config.Guards) == 0 {
		return nil, nil //nolint:nilnil // most agents have none
	}
	key := zonesKey{r.Session.AgentID, r.Session.AgentVersion}
	if known, there := r.S.zones.Get(key); there {
		return known, nil
	}
	zones, err := r.Session.Config.Zones(r.S.comparer)
	if fault.IsReason(err, fault.NotImplemented) { // the installation's model was taken away
		return nil, err
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidRequest, "The agent's guards cannot be used: %v. Correct them and begin a new session.", err)
	}
	r.S.zones.Set(key, zones)
	return zones, nil
}

// guardUser looks at what the user has said, before anything else sees it. stopped says that it is
// in a zone, and that the turn is answered.
func (r *Runner) guardUser(ctx context.Context) (stopped bool, err error) {
	zone, err := r.zoneOf(ctx, r.Turn.UserText)
	if err != nil || zone == nil {
		return false, err
	}
	return true, r.guarded(ctx, *zone, sideUser)
}

// zoneOf is the first zone that a whole text is in; nil: it is in none.
func (r *Runner) zoneOf(ctx context.Context, text string) (*nogo.Match, error) {
	zones, err := r.zones()
	if err != nil || zones == nil {
		return nil, err
	}
	found, err := zones.Find(ctx, text)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// guarded does what the zone of a match says: the reply, the announcement, the end.
func (r *Runner) guarded(ctx context.Context, match nogo.Match, side string) error {
	zone := r.Session.Config.Guards[match.Zone]
	made := sessions.ReceiptGuard{Guard: guardNoGo, Rule: side + ":" + match.By, Subject: zone.Name, Verdict: zoneVerdicts[zone.Action]}
	r.Receipt.Guards = append(r.Receipt.Guards, made)
	r.S.metrics.guards.WithLabelValues(made.Guard, made.Verdict, made.Rule).Inc()
	r.Turn.Citations, r.stop = nil, true
	if side == sideAgent {
		r.finish = model.FinishFiltered
	}
	switch zone.Action {
	case agents.GuardEscalate:
		r.end.Escalation = &Escalation{Guard: zone.Name, Side: side, MatchedBy: match.By}
	case agents.GuardEnd:
		r.end.EndCall = true
	}
	if err := r.send(ZoneEntered{ResponseID: r.ResponseID, Guard: zone.Name, Action: zone.Action, Side: side}); err != nil {
		return err
	}
	if zone.Reply == "" {
		return ctx.Err()
	}
	return r.sayFixed(zone.Reply)
}

// sayFixed says a text that no model wrote, as a message of its own.
func (r *Runner) sayFixed(text string) error {
	said := sessions.Message{
		Role: sessions.RoleAssistant, ItemID: idgen.New(idgen.Item), Text: text,
		At: sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun)),
	}
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

// filter lets a model's words through up to a zone. One without zones lets everything through.
type filter struct {
	zones *nogo.Filter
	// entered is the zone that the words are in; nil: none so far.
	entered *nogo.Match
}

func (r *Runner) newFilter() (*filter, error) {
	zones, err := r.zones()
	if err != nil || zones == nil {
		return &filter{}, err
	}
	return &filter{zones: zones.NewFilter()}, nil
}

func (f *filter) write(ctx context.Context, text string, say func(string) error) error {
	if f.zones == nil {
		return say(text)
	}
	through, match, err := f.zones.Write(ctx, text)
	return f.pass(through, match, err, say)
}

func (f *filter) close(ctx context.Context, say func(string) error) error {
	if f.zones == nil {
		return nil
	}
	through, match, err := f.zones.Close(ctx)
	return f.pass(through, match, err, say)
}

func (f *filter) pass(through string, match *nogo.Match, err error, say func(string) error) error {
	if err != nil {
		return err
	}
	if f.entered = match; match == nil {
		return say(through)
	}
	if err := say(through); err != nil {
		return err
	}
	return errZone
}
