package content

import (
	"context"
	"encoding/json"
	"fmt"
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

	sessions *sessions.Service
	// said are the messages of unanswered turns as they were said, of sessions that redact.
	said *cache.Cache[sessions.TurnID, []sessions.Message]
}

// New makes a Store that stores in another one.
func New(store turns.Store, service *sessions.Service) *Store {
	return &Store{Store: store, sessions: service, said: cache.New[sessions.TurnID, []sessions.Message](maxOpenTurns)}
}

// Accept implements turns.Store.
func (s *Store) Accept(ctx context.Context, p turns.AcceptParams) (sessions.Turn, error) {
	said := p.Message
	stored, err := s.sessions.StoredMessages(ctx, p.Session, []sessions.Message{said})
	if err != nil {
		return sessions.Turn{}, err
	}
	p.Message = stored[0]
	turn, err := s.Store.Accept(ctx, p)
	if err != nil {
		return turn, err
	}
	if turn, err = s.sessions.OpenTurn(ctx, p.Session, turn); err != nil || !redacts(p.Session) {
		return turn, err
	}
	earlier, _ := s.said.Get(turn.ID)
	all := append(slices.Clone(earlier), said)
	s.said.Set(turn.ID, all)
	return restored(p.Session.ContentRedactor(), turn, all), nil
}

// redacts reports whether what is stored of the session lacks what was said.
func redacts(session sessions.Session) bool { return session.ContentRedactor().Redacts() }

// Begin implements turns.Store.
func (s *Store) Begin(ctx context.Context, p turns.BeginParams) (turns.Begun, error) {
	said, _ := s.said.Get(p.Turn)
	if p.New != nil {
		said = slices.Concat(p.New.Outputs, p.New.Said)
		stored, err := s.sessions.StoredMessages(ctx, p.Session, said)
		if err != nil {
			return turns.Begun{Session: p.Session}, err
		}
		first := *p.New
		first.Outputs, first.Said = stored[:len(first.Outputs)], stored[len(first.Outputs):]
		if first.ClientTools != nil && p.Session.KeepsNothing() {
			text, err := s.sessions.StoredText(ctx, p.Session, string(first.ClientTools))
			if err != nil {
				return turns.Begun{Session: p.Session}, err
			}
			if first.ClientTools, err = json.Marshal(text); err != nil {
				return turns.Begun{Session: p.Session}, fmt.Errorf("encoding sealed tools: %w", err)
			}
		}
		p.New = &first
	}
	begun, err := s.Store.Begin(ctx, p)
	if err != nil {
		return begun, err
	}
	if begun.Turn, err = s.sessions.OpenTurn(ctx, p.Session, begun.Turn); err != nil {
		return begun, err
	}
	if redacts(p.Session) {
		s.said.Delete(p.Turn)
		begun.Turn = restored(p.Session.ContentRedactor(), begun.Turn, said)
	}
	begun.History.Turns, err = s.sessions.OpenTurns(ctx, p.Session, begun.History.Turns)
	return begun, err
}

// History implements turns.Store.
func (s *Store) History(ctx context.Context, session sessions.Session, p turns.HistoryParams) ([]sessions.Turn, error) {
	read, err := s.Store.History(ctx, session, p)
	if err != nil {
		return nil, err
	}
	return s.sessions.OpenTurns(ctx, session, read)
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
	if p.Turn, err = s.sessions.StoredTurn(ctx, p.Session, p.Turn); err != nil {
		return true, err
	}
	return s.Store.Save(ctx, p)
}

// Finish implements turns.Store. The turn that it returns has its content as it was said.
func (s *Store) Finish(ctx context.Context, p turns.FinishParams) (finished turns.Finished, err error) {
	said := p.Turn
	if p.Turn, err = s.sessions.StoredTurn(ctx, p.Session, said); err != nil {
		return turns.Finished{Session: p.Session, Turn: said}, err
	}
	if p.Assigned, err = s.sessions.StoredVariables(ctx, p.Session, p.Assigned); err != nil {
		return turns.Finished{Session: p.Session, Turn: said}, err
	}
	if p.Handover != nil {
		stored, err := p.Handover.Stored(ctx, s.sessions, p.Session)
		if err != nil {
			return turns.Finished{Session: p.Session, Turn: said}, err
		}
		p.Handover = &stored
	}
	finished, err = s.Store.Finish(ctx, p)
	if finished.Turn.ID == said.ID {
		finished.Turn.UserText, finished.Turn.AgentText, finished.Turn.Messages = said.UserText, said.AgentText, said.Messages
		finished.Turn.ErrorMessage = said.ErrorMessage
	}
	return finished, err
}

// AddResults implements turns.Store.
func (s *Store) AddResults(ctx context.Context, p turns.ResultParams) (err error) {
	if p.Results, err = s.sessions.StoredMessages(ctx, p.Session, p.Results); err != nil {
		return err
	}
	if p.Assigned, err = s.sessions.StoredVariables(ctx, p.Session, p.Assigned); err != nil {
		return err
	}
	return s.Store.AddResults(ctx, p)
}
