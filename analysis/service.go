package analysis

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// ModelFunc returns the model that answers for an agent. Errors: fault upstream-failed when the
// named provider is not configured.
type ModelFunc func(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error)

// Deps is what a Service needs. DB, Sessions, Models and Seal are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	Models   ModelFunc
	// Prices are those of models; nil: no costs are counted.
	Prices *usage.Prices
	// Seal seals the events of sessions that keep nothing.
	Seal *seal.Keyring
	// Memory stores facts about users; nil stores none.
	Memory *memory.Service
	// HasAudioFunc reports whether a closing session has a recording (recordings.Service.HasAudio);
	// nil: none has.
	HasAudioFunc func(ctx context.Context, db bun.IDB, session sessions.Session) (bool, error)
	// Gate shares the calls of models between tenants; nil does not limit them.
	Gate *fair.Gate
	// Log gets errors that no caller sees; nil discards them.
	Log *slog.Logger
}

// Service analyses and announces sessions that have ended. It is safe for concurrent use.
type Service struct {
	db       *postgres.DB
	sessions *sessions.Service
	models   ModelFunc
	memory   *memory.Service
	gate     *fair.Gate
	prices   *usage.Prices
	announce announcer
	log      *slog.Logger
}

// New returns a Service, and has d.Sessions call it when a session ends.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, sessions: d.Sessions, models: d.Models, memory: d.Memory, gate: d.Gate, prices: d.Prices, log: d.Log,
		announce: announcer{d.Sessions, d.Seal, d.HasAudioFunc},
	}
	if s.announce.hasAudio == nil {
		s.announce.hasAudio = func(context.Context, bun.IDB, sessions.Session) (bool, error) { return false, nil }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	d.Sessions.OnEnd(s.announceEnd)
	return s
}

// announceEnd appends the event of a session that is closing, or stores the analyses after which it
// is appended. A session that is closed to be deleted is not announced.
func (s *Service) announceEnd(ctx context.Context, tx bun.Tx, session sessions.Session, turns []sessions.Turn) error {
	if session.EndReason == sessions.ReasonErased {
		return nil
	}
	var kinds []Kind
	if needsAnalysis(session, turns) {
		kinds = append(kinds, Judging)
	}
	if needsLearning(session, turns) {
		kinds = append(kinds, Learning)
	}
	if len(kinds) > 0 {
		return insertAnalyses(ctx, tx, session, kinds, session.EndedAt)
	}
	return s.announce.appendPostCall(ctx, tx, session, turns, nil, session.EndedAt)
}

// Analyses returns the analyses of sessions of one tenant, by session. A session that was not
// analysed has None.
func (s *Service) Analyses(ctx context.Context, ended ...sessions.Session) (map[sessions.ID]Analysis, error) {
	found := map[sessions.ID]Analysis{}
	var ids []sessions.ID
	var tenant workspaces.TenantID
	for _, session := range ended {
		found[session.ID] = Analysis{SessionID: session.ID, Kind: Judging, Status: None}
		if session.Closed() && session.Config.Analysis.Enabled {
			ids, tenant = append(ids, session.ID), session.TenantID
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	var rows []Analysis
	err := s.db.NewSelect().Model(&rows).Where("n.tenant_id = ?", tenant).Where("n.session_id IN (?)", bun.List(ids)).
		Where("n.kind = ?", Judging).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading analyses: %w", err)
	}
	for _, row := range rows {
		found[row.SessionID] = row
	}
	return found, nil
}
