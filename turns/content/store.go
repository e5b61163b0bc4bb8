package content

import (
	"context"
	"slices"

	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/pii"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// maxOpenTurns bounds the unanswered turns whose messages are kept in memory.
const maxOpenTurns = 10_000

// Store implements turns.Store. Safe for concurrent use.
type Store struct {
	turns.Store

	// said are the messages of unanswered turns as they were said.
	said *cache.Cache[sessions.TurnID, []sessions.Message]
}

// New makes a Store that stores in another one.
func New(store turns.Store) *Store {
	return &Store{Store: store, said: cache.New[sessions.TurnID, []sessions.Message](maxOpenTurns)}
}

// Accept implements turns.Store.
func (s *Store) Accept(ctx context.Context, p turns.AcceptParams) (sessions.Turn, error) {
	r := p.Session.Redactor()
	if !r.Redacts() {
		return s.Store.Accept(ctx, p)
	}
	said := p.Message
	p.Message = said.Redacted(r)
	turn, err := s.Store.Accept(ctx, p)
	if err != nil {
		return turn, err
	}
	earlier, _ := s.said.Get(turn.ID)
	all := append(slices.Clone(earlier), said)
	s.said.Set(turn.ID, all)
	return restored(r, turn, all), nil
}

// Begin implements turns.Store.
func (s *Store) Begin(ctx context.Context, p turns.BeginParams) (turns.Begun, error) {
	r := p.Session.Redactor()
	if !r.Redacts() {
		return s.Store.Begin(ctx, p)
	}
	said, _ := s.said.Get(p.Turn)
	if p.New != nil {
		said = slices.Concat(p.New.Outputs, p.New.Said)
		stored := *p.New
		stored.Said, stored.Outputs = sessions.RedactedMessages(r, stored.Said), sessions.RedactedMessages(r, stored.Outputs)
		p.New = &stored
	}
	begun, err := s.Store.Begin(ctx, p)
	if err != nil {
		return begun, err
	}
	s.said.Delete(p.Turn)
	begun.Turn = restored(r, begun.Turn, said)
	return begun, nil
}

// restored returns a turn with the messages that were said in it in the places of their stored
// forms.
func restored(r pii.Redactor, turn sessions.Turn, said []sessions.Message) sessions.Turn {
	turn.Messages = slices.Clone(turn.Messages)
	for _, one := range said {
		stored := one.Redacted(r)
		at := slices.IndexFunc(turn.Messages, func(m sessions.Message) bool {
			return m.Role == one.Role && m.ItemID == one.ItemID && m.CallID == one.CallID && m.Text == stored.Text
		})
		if at >= 0 {
			turn.Messages[at].Text, turn.Messages[at].Calls = one.Text, one.Calls
		}
	}
	turn.UserText = sessions.UserText(turn.Messages)
	return turn
}

// Save implements turns.Store.
func (s *Store) Save(ctx context.Context, p turns.SaveParams) (mine bool, err error) {
	p.Turn = p.Turn.Redacted(p.Session.Redactor())
	return s.Store.Save(ctx, p)
}

// Finish implements turns.Store. The turn that it returns has its content as it was said.
func (s *Store) Finish(ctx context.Context, p turns.FinishParams) (turns.Finished, error) {
	said := p.Turn
	p.Turn = said.Redacted(p.Session.Redactor())
	finished, err := s.Store.Finish(ctx, p)
	if finished.Turn.ID == said.ID {
		finished.Turn.UserText, finished.Turn.AgentText, finished.Turn.Messages = said.UserText, said.AgentText, said.Messages
		finished.Turn.ErrorMessage = said.ErrorMessage
	}
	return finished, err
}

// AddResults implements turns.Store.
func (s *Store) AddResults(ctx context.Context, p turns.ResultParams) error {
	p.Results = sessions.RedactedMessages(p.Session.Redactor(), p.Results)
	return s.Store.AddResults(ctx, p)
}
