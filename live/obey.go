package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// ErrNothingToCancel is the cause of Failed when there is no answer to cancel.
var ErrNothingToCancel = errors.New("no answer is going out")

// obey carries out a command.
func (e *engine) obey(live *Live, command Command) {
	if e.lives[live.channel] != live || e.ending != nil {
		return // it has been told to close
	}
	if run := e.current; run != nil && run.told && len(run.behind) < maxBehind {
		run.behind = append(run.behind, commanded{live: live, command: command}) // for its client the answer is over
		return
	}
	if e.awaitsRemoval(live, command) {
		return
	}
	behind := live.did
	live.did = command
	switch c := command.(type) {
	case UserMessage:
		e.hear(live, c)
	case ToolOutput:
		e.takeOutput(live, c)
	case Approve:
		e.approve(live, c)
	case Respond:
		if !e.doubled(c, behind) {
			e.respond(live, c)
		}
	case Ask:
		e.ask(live, c)
	case Cancel:
		if e.current == nil && e.watching != "" && len(e.asides) == 0 {
			e.cancelElsewhere()
			return
		}
		e.cancel(live, c)
	case Configure:
		e.configure(live, c)
	case Greet:
		e.sayGreeting(live)
	case Feedback:
		e.rate(live, c)
	case Activity:
		e.touch()
	case AudioAppend:
		e.appendAudio(live, c)
	case AudioCommit:
		e.commitAudio(live, c)
	case AudioClear:
		live.audio = heardAudio{}
	case Insert:
		e.insert(live, c)
	case Retrieve:
		e.retrieve(live, c)
	case Remove:
		e.remove(live, c)
	case Truncate:
		e.truncate(live, c)
	case End:
		e.end(live, c)
	}
}

// respond takes the wish for an answer.
func (e *engine) respond(live *Live, c Respond) {
	own := live.clientTools
	if c.ClientTools != nil {
		own = c.ClientTools
	}
	if !e.offers(c.ToolChoice, own, c.OutOfBand) {
		live.push(Failed{CommandID: c.CommandID, Err: turns.ToolNotOffered(c.ToolChoice)})
		return
	}
	input, err := e.inputOf(c.Input)
	if err == nil && !c.OutOfBand && len(e.waiting) >= turns.MaxWaitingResponds {
		err = fault.New(fault.RateLimitedReason, "Too many answers wait already. Wait for one to be done.")
	}
	if err != nil {
		live.push(Failed{CommandID: c.CommandID, Err: postgres.Decide(err)})
		return
	}
	wanted := respond{live: live, command: c, input: input, asked: e.s.sessions.Now(), held: e.client.holds()}
	if c.OutOfBand {
		e.respondAside(wanted)
		return
	}
	e.waiting = append(e.waiting, wanted)
	e.next()
}

// cancel stops an answer.
func (e *engine) cancel(live *Live, c Cancel) {
	run := e.asides[c.ResponseID]
	if run == nil && (c.ResponseID == "" || (e.current != nil && c.ResponseID == e.current.responseID)) {
		run = e.current
	}
	switch {
	case run == nil || run.told:
		live.push(Failed{CommandID: c.CommandID, Err: fault.Wrap(ErrNothingToCancel, fault.InvalidRequest, "No such answer is going out.")})
	case c.Speech:
		run.cancel(turns.ErrInterrupted)
	default:
		run.cancel(turns.ErrStopped)
	}
}

// hear takes what the user said: written down first, then told.
func (e *engine) hear(live *Live, c UserMessage) {
	if !turns.IsSayable(c.Text) {
		live.push(Failed{CommandID: c.CommandID, Err: turns.ErrTextLength()})
		return
	}
	if e.accept(live, c.CommandID, sessions.Message{Role: sessions.RoleUser, ItemID: c.ItemID, After: c.After, Text: c.Text}) {
		e.client.heard()
	}
}

// accept writes down what a client said or answered and tells the sockets; false when it could not.
// live is nil when nobody said it.
func (e *engine) accept(live *Live, commandID string, said sessions.Message) bool {
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	if refused := e.name(ctx, &said); refused != nil {
		if live != nil {
			live.push(Failed{CommandID: commandID, Err: refused})
		}
		return false
	}
	turn, err := e.s.turns.Accept(ctx, turns.AcceptParams{
		Session: e.session, New: sessions.TurnID(idgen.New(idgen.Turn)), Open: e.unanswered, Message: said, Cache: e.cache,
	})
	if err != nil {
		e.refuseSaid(ctx, live, commandID, err)
		return false
	}
	e.unanswered = turn.ID
	e.tellSaid(live, commandID, turn, said)
	return true
}

// tellSaid tells the sockets of what was written down.
func (e *engine) tellSaid(live *Live, commandID string, turn sessions.Turn, said sessions.Message) {
	item := sessions.ItemsOf(sessions.Turn{ID: turn.ID, Index: turn.Index, Messages: []sessions.Message{said}})[0]
	if live != nil {
		e.tell(live, commandID, item)
	}
	e.others(live, []sessions.Item{item})
}

// refuseSaid tells a socket that what it said was not accepted.
func (e *engine) refuseSaid(ctx context.Context, live *Live, commandID string, err error) {
	decided := postgres.Decide(err)
	level := slog.LevelWarn
	if decided.Kind() == fault.Invalid {
		level = slog.LevelDebug // the client is told, and can do nothing else to our log
	}
	e.s.log.Log(ctx, level, "message not accepted", "session_id", e.id, "error", err)
	if live != nil {
		live.push(Failed{CommandID: commandID, Err: decided})
	}
}

// name gives a message that has none its item id, and says what is wrong with the id or the place
// that a client chose.
func (e *engine) name(ctx context.Context, said *sessions.Message) *fault.Error {
	id := &said.ItemID
	if len(said.Calls) == 1 {
		id = &said.Calls[0].ItemID
	}
	chosen := *id != ""
	switch {
	case !chosen:
		*id = idgen.New(idgen.Item)
	case len(*id) > turns.MaxItemIDBytes || !sessions.IsStorable(*id) || *id == sessions.AtFront:
		return fault.InvalidField("id", "length", "An item's id has at most %d bytes, and is not %q.", turns.MaxItemIDBytes, sessions.AtFront)
	case e.items.Has(*id):
		return errItemTaken()
	}
	if len(said.After) > turns.MaxItemIDBytes || !sessions.IsStorable(said.After) || !e.knows(ctx, said.After) {
		return fault.Wrap(ErrNoPlace, fault.InvalidRequest, "There is no item with that id to put another behind.")
	}
	if chosen {
		return e.claim(ctx, *id, said)
	}
	return nil
}

// configure applies what a client may change, and says what is in force.
func (e *engine) configure(live *Live, c Configure) {
	before := e.session.Config.Language
	restore(&e.session.Config, live.session.Config, c.Restore)
	refused := sessions.ClientOverrides(&e.session.Config, c.Overrides)
	refused = append(refused, e.addVariables(c.Variables)...)
	if before != e.session.Config.Language {
		e.session.Language = e.session.Config.Language
		e.write("language")
	}
	if c.ClientTools != nil {
		var taken []fault.Field
		live.clientTools, taken = e.offerable(c.ClientTools)
		refused = append(refused, taken...)
	}
	choice := cmp.Or(c.ToolChoice, live.toolChoice)
	if (c.ToolChoice != "" || c.ClientTools != nil) && !e.offers(choice, live.clientTools, false) {
		refused = append(refused, fault.Field{
			Field: FieldToolChoice, Code: "unknown", Message: turns.ToolNotOffered(choice).Message + " It is auto now.",
		})
		choice = turns.ToolsAuto
	}
	live.toolChoice, live.maxOutputTokens = choice, cmp.Or(c.MaxOutputTokens, live.maxOutputTokens)
	live.push(Configured{
		CommandID: c.CommandID, Session: e.session, ClientTools: live.clientTools,
		ToolChoice: live.toolChoice, MaxOutputTokens: live.maxOutputTokens, Refused: refused,
	})
}

// restore takes back what clients have changed.
func restore(config *agents.Config, began agents.Config, keys []string) {
	for _, key := range keys {
		switch key {
		case "model":
			config.Model.Name = began.Model.Name
		case "voice":
			config.Voice.TTS = began.Voice.TTS
		}
	}
}

// touch holds off the idle time-out; at most one write in activityPause.
func (e *engine) touch() {
	now := e.s.sessions.Now()
	if now.Sub(e.session.LastActivityAt) < activityPause {
		return
	}
	e.session.LastActivityAt = now
	e.write("last_activity_at")
}

// write stores a column of the session that is not worth failing for.
func (e *engine) write(column string) {
	if e.s.turns.Offline() {
		return
	}
	ctx, cancel := context.WithTimeout(e.s.live, sessions.WriteTimeout)
	defer cancel()
	if err := sessions.Update(ctx, e.s.db, e.session, column); err != nil {
		e.s.log.WarnContext(ctx, "session not updated", "session_id", e.id, "column", column, "error", err)
	}
}

const activityPause = 5 * time.Second

// end closes the session at a socket's wish.
func (e *engine) end(live *Live, c End) {
	params := sessions.EndParams{Status: sessions.Completed, Reason: c.Reason}
	if c.Failed {
		params.Status = sessions.Failed
	}
	if params.Reason == "" {
		params.Reason = sessions.ReasonHangUp
	}
	if err := sessions.CheckEnd(&params); err != nil {
		live.push(Failed{Err: postgres.Decide(err)})
		return
	}
	e.waiting = nil
	if e.current != nil {
		e.current.cancel(turns.ErrEnding)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.s.live), sessions.WriteTimeout)
	defer cancel()
	var session sessions.Session
	err := e.s.turns.ReachSession(ctx, e.id, func(ctx context.Context) (err error) {
		session, err = e.s.sessions.RequestEnd(ctx, e.session, params.Status, params.Reason)
		return err
	})
	if turns.IsOffline(err) {
		session, err = e.s.turns.KeepEnd(turns.EndParams{Session: e.session, Status: params.Status, Reason: params.Reason})
	}
	if err != nil {
		live.push(Failed{Err: postgres.Decide(err)})
		return
	}
	if session.Closed() {
		e.close(closedBy(session))
	}
}
