package turns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// answerAgain answers a lost turn here. Here is true when its events can be heard from now on.
func (s *Service) answerAgain(ctx context.Context, session sessions.Session, id sessions.TurnID) (here bool, err error) {
	now, err := sessions.Find(ctx, s.db, session.TenantID, session.ID, "")
	if err != nil {
		return false, err
	}
	if now.RunningTurnID != id || !now.AwaitsResume(s.sessions.Now()) {
		return false, nil
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &Broadcast{session: session.ID, grace: s.followGrace, cancel: cancel, news: make(chan struct{})}
	if !s.announce(b, id) {
		cancel(nil)
		return true, nil
	}
	say := func(ctx context.Context, emit func(StreamEvent) error) (sessions.Turn, error) {
		return s.sayAgain(ctx, session, id, TurnParams{}, emit)
	}
	if !s.goLate(func() { s.broadcast(running, b, say) }) {
		s.announce(b, "")
		cancel(nil)
		return false, fault.New(fault.ServiceUnavailable, "This node is being stopped. Follow the turn again.")
	}
	return true, nil
}

// sayAgain is say for a lost turn; its events begin with what is kept of it. Of params, what the
// caller offers is read; nil: what it offered then. Errors: ErrTaken, those of Say.
func (s *Service) sayAgain(ctx context.Context, session sessions.Session, id sessions.TurnID, params TurnParams, emit func(StreamEvent) error) (sessions.Turn, error) {
	if params.ClientTools == nil { // who follows a turn does not repeat its request
		var err error
		if params.ClientTools, err = s.offered(ctx, session, id); err != nil {
			return sessions.Turn{}, err
		}
	}
	stream := &turnStream{emit: emit}
	start := Start{Session: session, Turn: id, Open: true, resumed: true, offered: offerOf(params.ClientTools)}
	r := &Runner{
		S: s, ResponseID: idgen.New(idgen.Response), Options: Options{ClientTools: params.ClientTools}, Approvals: NewApprovals(),
		Start: start,
	}
	r.Emit = func(e Event) error {
		if _, begun := e.(ResponseStarted); !begun {
			return stream.take(e)
		}
		stream.place.losses = r.Turn.Losses
		if err := stream.take(e); err != nil {
			return err
		}
		return stream.keep(r.Turn)
	}
	went := r.Run(ctx)
	if errors.Is(went.Err, ErrTaken) {
		return went.Turn, ErrTaken
	}
	s.dropOffer(ctx, session, start)
	return s.said(ctx, stream, went, []tools.ClientCall{})
}

// keep tells of what a turn has before it is answered again.
func (t *turnStream) keep(turn sessions.Turn) error {
	if text := sessions.AgentText(turn.Messages); text != "" {
		t.said = true
		if err := t.send(StreamEvent{Type: StreamDelta, Delta: text}); err != nil {
			return err
		}
	}
	for _, call := range turn.ToolCalls() {
		if !call.Settled {
			continue
		}
		if err := t.send(StreamEvent{Type: StreamToolCall, ToolCall: &call}); err != nil {
			return err
		}
	}
	return nil
}

// offeredTool is a tool of the caller as it is kept with the turn while it runs, for whoever
// answers it again.
type offeredTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// offerOf is how the tools are kept; nil for none.
func offerOf(offered []model.Tool) json.RawMessage {
	if len(offered) == 0 {
		return nil
	}
	kept := make([]offeredTool, len(offered))
	for i, tool := range offered {
		kept[i] = offeredTool(tool)
	}
	text, err := json.Marshal(kept)
	if err != nil { // a schema that is no JSON, from no door of ours: such a turn does not have it when it is lost
		return nil
	}
	return text
}

// offered reads the tools that the caller of a turn offered.
func (s *Service) offered(ctx context.Context, session sessions.Session, id sessions.TurnID) ([]model.Tool, error) {
	var text []byte
	err := s.db.NewSelect().Model((*sessions.Turn)(nil)).ColumnExpr("t.client_tools").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", id).Scan(ctx, &text)
	if postgres.NoRows(err) || err == nil && len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the tools that a caller offered: %w", err)
	}
	var kept []offeredTool
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("decoding the tools that a caller offered: %w", err)
	}
	offered := make([]model.Tool, len(kept))
	for i, tool := range kept {
		offered[i] = model.Tool(tool)
	}
	return offered, nil
}

// dropOffer forgets the tools of a turn that has ended.
func (s *Service) dropOffer(ctx context.Context, session sessions.Session, start Start) {
	if start.offered == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	err := s.ReachSession(ctx, session.ID, func(ctx context.Context) error {
		_, err := s.db.NewUpdate().Model((*sessions.Turn)(nil)).Set("client_tools = NULL").
			Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", start.Turn).
			Where("t.status <> ?", sessions.TurnInProgress).Exec(ctx) // else another node has it
		return err
	})
	if err != nil { // they stay, which costs room only
		s.log.WarnContext(ctx, "tools of a turn kept", "session_id", session.ID, "turn_id", start.Turn, "error", err)
	}
}
