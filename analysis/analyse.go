package analysis

import (
	"context"
	"errors"
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

// errUnusable says that the model has answered twice, and not with what it was asked for.
var errUnusable = errors.New("the model's answers could not be used")

// Analyse asks the agent's model about a session that is over, writes down what it says, and announces
// the session's end with it, unless the session waits for Learn still. A model that fails is asked again a little
// later, up to three times within AnalysisDeadline; then the end is announced without. It does nothing where nothing is
// due: call it as often as you like, anywhere. Errors: those of the database, and the end of ctx; both leave it due.
func (s *Service) Analyse(ctx context.Context, tenant workspaces.TenantID, id sessions.ID) error {
	return s.lookBack(ctx, tenant, id, Judging)
}

// Learn is Analyse for what is to be remembered of the session's user: neither waits for the other or repeats it.
func (s *Service) Learn(ctx context.Context, tenant workspaces.TenantID, id sessions.ID) error {
	return s.lookBack(ctx, tenant, id, Learning)
}

func (s *Service) lookBack(ctx context.Context, tenant workspaces.TenantID, id sessions.ID, kind AnalysisKind) error {
	a, claimed, err := s.claimAnalysis(ctx, tenant, id, kind, s.sessions.Now())
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
	trying, cancel := context.WithTimeout(ctx, AnalysisTime)
	defer cancel()
	var facts []memory.Fact
	if kind == Judging {
		err = s.analyse(trying, session, turns, &a)
	} else {
		facts, err = s.learn(trying, session, turns, &a)
	}
	writing, done := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout) // what was paid for is kept
	defer done()
	switch {
	case err == nil:
		return s.finishAnalysis(writing, a, facts)
	case ctx.Err() != nil: // the node stops: another one may go on at once
		return errors.Join(ctx.Err(), s.releaseAnalysis(writing, a, s.sessions.Now()))
	}
	decided := postgres.Decide(err)
	a.Status, a.Error = AnalysisFailed, decided.Message
	if errors.Is(err, errUnusable) {
		a.Error = "The model did not answer with the " + string(kind) + " that it was asked for."
	} else if trying.Err() != nil {
		a.Error = "The model did not answer in time."
	}
	s.log.WarnContext(ctx, "session not analysed", "kind", kind, telemetry.KeySessionID, id, telemetry.KeyAttempt, a.Attempts, telemetry.KeyReason, decided.Reason, telemetry.KeyError, err)
	next := s.sessions.Now().Add(max(analysisPause<<(a.Attempts-1), decided.RetryAfter))
	if a.Attempts < maxAnalyses && !errors.Is(err, errUnusable) && next.Before(a.DeadlineAt) {
		return s.releaseAnalysis(writing, a, next)
	}
	return s.finishAnalysis(writing, a, nil)
}

// analyse asks the model and puts what it says into a: once, and once more when it has not answered as
// it was asked to. What is wrong then is left out.
func (s *Service) analyse(ctx context.Context, session sessions.Session, turns []sessions.Turn, a *Analysis) error {
	provider, err := s.models(ctx, session.Ref(), session.Config.Model)
	if err != nil {
		return err
	}
	if provider.Name() == extractive.Name {
		a.Status = AnalysisNone
		return nil
	}
	leave, err := s.gate.Enter(ctx, string(session.TenantID))
	if err != nil {
		return err
	}
	defer leave()
	req := analysisRequest(session, turns)
	for last := range 2 {
		said, err := provider.Stream(ctx, req, func(model.Event) error { return ctx.Err() })
		a.InputTokens, a.OutputTokens = a.InputTokens+said.Usage.InputTokens, a.OutputTokens+said.Usage.OutputTokens
		if err != nil {
			return sessions.UpstreamFault(err)
		}
		if said.Provider == extractive.Name { // the last of the agent's fallbacks
			return fault.New(fault.UpstreamFailed, "No language model answered.")
		}
		a.Model = said.Model
		result, problems, err := readAnalysis(said.Text, session.Config.Analysis)
		if err == nil && (len(problems) == 0 || last == 1) {
			a.Status, a.Result, a.Error = AnalysisDone, result, ""
			return nil
		}
		if err != nil {
			problems = []string{err.Error() + "."}
		}
		req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Text: said.Text}, model.Message{
			Role: model.RoleUser, Text: "Your answer cannot be used: " + strings.Join(problems, " ") + " Answer again with the whole JSON object and nothing else.",
		})
	}
	return errUnusable
}

// finishAnalysis writes an analysis down that has left pending, counts what it cost, and announces the end
// of its session when it was the last; nothing when somebody was faster.
func (s *Service) finishAnalysis(ctx context.Context, a Analysis, facts []memory.Fact) error {
	a.EndedAt = s.sessions.Now()
	return s.sessions.Locked(ctx, a.TenantID, a.SessionID, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
		return s.finishAnalysisTx(ctx, tx, session, a, facts)
	})
}

func (s *Service) finishAnalysisTx(ctx context.Context, tx bun.Tx, session *sessions.Session, a Analysis, facts []memory.Fact) error {
	all, err := selectAnalyses(ctx, tx, *session)
	if err != nil || all[a.Kind].Status != AnalysisPending {
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
	all[a.Kind] = a
	for _, one := range all {
		if one.Status == AnalysisPending {
			return nil
		}
	}
	turns, err := sessions.AllTurns(ctx, tx, *session)
	if err != nil {
		return err
	}
	ctx = a.Origin().Rejoin(ctx) // the event belongs to the session's end, also when what is learnt came last
	return appendPostCall(ctx, tx, *session, turns, all, a.EndedAt, s.sessions.TranscriptURL(session.ID))
}

// Sweep announces the ends of sessions whose analysis did not come in time. Behind an outage of Postgres it waits.
// It is harmless beside its double.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	if !s.sessions.Health().Steady() {
		return nil
	}
	now = now.UTC().Truncate(time.Microsecond)
	overdue, err := selectOverdueAnalyses(ctx, s.db, now)
	if err != nil {
		return err
	}
	var failures []error
	for _, a := range overdue {
		a.Status, a.EndedAt = AnalysisFailed, now
		if a.Error == "" {
			a.Error = "The analysis did not come to its end in time."
		}
		err := s.sessions.Locked(ctx, a.TenantID, a.SessionID, func(ctx context.Context, tx bun.Tx, session *sessions.Session) error {
			return s.finishAnalysisTx(ctx, tx, session, a, nil)
		})
		if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
