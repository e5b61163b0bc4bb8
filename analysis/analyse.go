package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Analyse asks the agent's model about an ended session, stores the answer and announces the
// session's end with it, unless the session still waits for Learn. When the model fails, it is
// asked again later, up to three times before Deadline; then the end is announced without an
// analysis. Analyse does nothing when nothing is due, so it may be called any number of times, on
// any node. Errors: those of the database, and the end of ctx; both leave the analysis due.
func (s *Service) Analyse(ctx context.Context, tenant workspaces.TenantID, id sessions.ID) error {
	return s.run(ctx, tenant, id, Judging)
}

// Learn does the same for what is worth remembering of the session's user. Neither waits for the
// other or repeats it.
//
// The model reads what user and agent said, but no document, no answer of a tool, and nothing from
// before the user had something forgotten.
func (s *Service) Learn(ctx context.Context, tenant workspaces.TenantID, id sessions.ID) error {
	return s.run(ctx, tenant, id, Learning)
}

// run claims an analysis of a kind and tries it once.
func (s *Service) run(ctx context.Context, tenant workspaces.TenantID, id sessions.ID, kind Kind) error {
	a, claimed, err := s.claim(ctx, tenant, id, kind, s.sessions.Now())
	if err != nil || !claimed {
		return err
	}
	session, err := sessions.Find(ctx, s.db, tenant, id, "")
	if err != nil {
		return err
	}
	sessions.AddToLog(ctx, session)
	turns, err := sessions.AllTurns(ctx, s.db, session)
	if err != nil {
		return err
	}
	trying, cancel := context.WithTimeout(ctx, TryTimeout)
	defer cancel()
	var facts []memory.Fact
	if kind == Judging {
		err = s.analyse(trying, session, turns, &a)
	} else {
		facts, err = s.learn(trying, session, turns, &a)
	}
	writing, done := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout) // a paid answer is stored even when ctx ends
	defer done()
	switch {
	case err == nil:
		return s.finish(writing, a, facts, s.sessions.Now())
	case ctx.Err() != nil: // this node stops: another one may continue at once
		return errors.Join(ctx.Err(), s.release(writing, a, s.sessions.Now()))
	}
	decided := postgres.Decide(err)
	a.Status, a.Error = Failed, decided.Message
	if errors.Is(err, errUnusable) {
		a.Error = "The model's answer is not the " + string(kind) + " that was requested."
	} else if trying.Err() != nil {
		a.Error = "The model did not answer in time."
	}
	s.log.WarnContext(ctx, "session was not analysed", "kind", kind, telemetry.KeySessionID, id,
		telemetry.KeyAttempt, a.Attempts, telemetry.KeyReason, decided.Reason, telemetry.KeyError, err)
	next := s.sessions.Now().Add(max(retryPause<<(a.Attempts-1), decided.RetryAfter))
	if a.Attempts < maxTries && !errors.Is(err, errUnusable) && next.Before(a.DeadlineAt) {
		return s.release(writing, a, next)
	}
	return s.finish(writing, a, nil, s.sessions.Now())
}

// analyse asks the model and stores its answer in a. When the answer has mistakes, the model is
// asked once more; the mistakes of the second answer are left out.
func (s *Service) analyse(ctx context.Context, session sessions.Session, turns []sessions.Turn, a *Analysis) error {
	provider, leave, err := s.openModel(ctx, session)
	if err != nil {
		return err
	}
	defer leave()
	if provider == nil {
		a.Status = None
		return nil
	}
	req := analysisRequest(session, turns)
	for attempt := range 2 {
		text, err := askModel(ctx, provider, req, a)
		if err != nil {
			return err
		}
		result, problems, err := readAnalysis(text, session.Config.Analysis)
		if err == nil && (len(problems) == 0 || attempt == 1) {
			a.Status, a.Result, a.Error = Done, result, ""
			return nil
		}
		if err != nil {
			problems = []string{err.Error() + "."}
		}
		req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Text: text}, model.Message{
			Role: model.RoleUser,
			Text: "Your answer cannot be used: " + strings.Join(problems, " ") + " Answer again with the whole JSON object and nothing else.",
		})
	}
	return errUnusable
}

// openModel returns the agent's model, and nil when no language model answers for the agent. The
// caller calls leave when it has its answers: the tenant's next call of a model may wait for it.
func (s *Service) openModel(ctx context.Context, session sessions.Session) (provider model.Provider, leave func(), err error) {
	provider, err = s.models(ctx, session.Ref(), session.Config.Model)
	if err != nil || provider.Name() == extractive.Name {
		return nil, func() {}, err
	}
	leave, err = s.gate.Enter(ctx, string(session.TenantID))
	return provider, leave, err
}

// askModel returns the model's answer and counts its tokens in a.
func askModel(ctx context.Context, provider model.Provider, req model.Request, a *Analysis) (string, error) {
	answer, err := provider.Stream(ctx, req, func(model.Event) error { return ctx.Err() })
	a.calls = append(a.calls, sessions.NewModelCall(provider.Name(), req, answer))
	a.InputTokens, a.OutputTokens = a.InputTokens+answer.Usage.InputTokens, a.OutputTokens+answer.Usage.OutputTokens
	if err != nil {
		return "", sessions.UpstreamFault(err)
	}
	if answer.Provider == extractive.Name { // the last of the agent's fallbacks
		return "", fault.New(fault.UpstreamFailed, "No language model answered.")
	}
	a.Model = answer.Model
	return answer.Text, nil
}

// learn asks the model for facts and counts its tokens in a.
func (s *Service) learn(ctx context.Context, session sessions.Session, turns []sessions.Turn, a *Analysis) ([]memory.Fact, error) {
	if s.memory == nil {
		a.Status = None
		return nil, nil
	}
	forgotten, err := s.memory.ForgottenAt(ctx, session.Ref(), session.UserID)
	if err != nil {
		return nil, err
	}
	a.Status, a.Error = Done, ""
	var spoken []sessions.Turn
	var userText strings.Builder
	for _, turn := range turns {
		if turn.UserText == "" || !turn.StartedAt.After(forgotten) || strings.HasPrefix(turn.UserText, "/tool ") {
			continue
		}
		if slices.ContainsFunc(turn.Messages, func(m sessions.Message) bool { return m.Withheld }) {
			continue // a guard keeps these words from models
		}
		turn.Messages = nil // the answers of tools are not the user's words
		spoken = append(spoken, turn)
		userText.WriteString(turn.UserText + "\n")
	}
	if len(spoken) == 0 {
		return nil, nil
	}
	known, err := s.memory.Recall(ctx, session.Ref(), session.UserID, knownTokens)
	if err != nil {
		return nil, err
	}
	provider, leave, err := s.openModel(ctx, session)
	if err != nil {
		return nil, err
	}
	defer leave()
	if provider == nil {
		a.Status = None
		return nil, nil
	}
	text, err := askModel(ctx, provider, learnRequest(session, spoken, known.Items), a)
	if err != nil {
		return nil, err
	}
	return readFacts(text, session, spoken, userText.String())
}

// finish stores an analysis that ended at a time, with its cost. It announces the end of the
// session when this was the last analysis, and does nothing when another worker has stored it
// before.
func (s *Service) finish(ctx context.Context, a Analysis, facts []memory.Fact, at time.Time) error {
	a.EndedAt = at
	return s.sessions.Locked(ctx, a.TenantID, a.SessionID, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		return s.finishTx(ctx, tx, session, a, facts)
	})
}

// finishTx is finish on a locked session.
func (s *Service) finishTx(ctx context.Context, tx bun.Tx, session *sessions.Session, a Analysis, facts []memory.Fact) error {
	all, err := selectAnalyses(ctx, tx, *session)
	if err != nil || all[a.Kind].Status != Pending {
		return err
	}
	if len(facts) > 0 {
		if err := s.memory.LearnTx(ctx, tx, session.Ref(), session.UserID, facts, a.EndedAt); err != nil {
			return err
		}
	}
	if err := updateAnalysis(ctx, tx, a); err != nil {
		return err
	}
	session.InputTokens, session.OutputTokens = session.InputTokens+a.InputTokens, session.OutputTokens+a.OutputTokens
	if err := sessions.Update(ctx, tx, *session, "input_tokens", "output_tokens"); err != nil {
		return err
	}
	if err := s.meterTx(ctx, tx, *session, a, a.EndedAt); err != nil {
		return err
	}
	all[a.Kind] = a
	for _, one := range all {
		if one.Status == Pending {
			return nil
		}
	}
	turns, err := sessions.AllTurns(ctx, tx, *session)
	if err != nil {
		return err
	}
	ctx = a.Origin().Rejoin(ctx) // the event belongs to the request that ended the session
	return s.announce.appendPostCall(ctx, tx, *session, turns, all, a.EndedAt)
}

// Sweep announces the ends of sessions whose analyses are overdue. While Postgres is unavailable it
// does nothing. Any number of processes may call it.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	if !s.sessions.Health().Steady() {
		return nil
	}
	now = now.UTC().Truncate(time.Microsecond)
	overdue, err := selectOverdue(ctx, s.db, now)
	if err != nil {
		return err
	}
	var failures []error
	for _, a := range overdue {
		a.Status, a.Error = Failed, cmp.Or(a.Error, "The analysis did not end in time.")
		err := s.finish(ctx, a, nil, now)
		if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// meterTx counts what a try's calls of the model have used. Each try is counted when it ends: the
// next one may be answered by another model.
func (s *Service) meterTx(ctx context.Context, tx bun.Tx, session sessions.Session, a Analysis, at time.Time) error {
	source := fmt.Sprintf("%s %d of %s", a.Kind, a.Attempts, session.ID)
	return sessions.MeterModels(ctx, tx, session, source, a.calls, s.prices, at)
}
