package agents

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Draft is settings of an agent that are not published. An agent has at most one.
type Draft struct {
	bun.BaseModel `bun:"table:agent_drafts,alias:d"`

	AgentID     ID                  `bun:"agent_id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Name        string              `bun:"name"`
	Config      Config              `bun:"config,type:jsonb"`
	// BaseVersion is the version of the agent when the draft was begun.
	BaseVersion int `bun:"base_version"`
	// Revision counts the saves of all drafts that the agent has had, from 1.
	Revision  int       `bun:"revision"`
	UpdatedBy string    `bun:"updated_by"`
	CreatedAt time.Time `bun:"created_at"`
	UpdatedAt time.Time `bun:"updated_at"`

	// Published is the agent at its latest version.
	Published Agent `bun:"-"`
}

// Stale reports whether the agent has another version than when the draft was begun.
func (d Draft) Stale() bool { return d.Published.Version != d.BaseVersion }

// Agent is the agent with the settings of the draft, at the version at which the draft was begun.
func (d Draft) Agent() Agent {
	agent := d.Published
	agent.Name, agent.Config, agent.Version, agent.UpdatedAt = d.Name, d.Config, d.BaseVersion, d.UpdatedAt
	return agent
}

// checkRevision refuses a draft that was saved since the caller has seen revision seen; nil: any.
func (d Draft) checkRevision(seen *int) error {
	if seen == nil || *seen == d.Revision {
		return nil
	}
	return fault.New(fault.AgentDraftChanged,
		"The draft was saved by %q meanwhile and is at revision %d; read it before you change it.", d.UpdatedBy, d.Revision)
}

// Draft returns the draft of an agent. When there is none it has the agent's own settings and the
// revision 0. Errors: NotFound not-found.
func (s *Service) Draft(ctx context.Context, ref workspaces.Ref, id ID) (Draft, error) {
	agent, err := s.Get(ctx, ref, id)
	if err != nil {
		return Draft{}, err
	}
	draft, err := draftOf(ctx, s.db, agent)
	if fault.IsReason(err, fault.AgentDraftNotFound) {
		return unsavedDraft(agent), nil
	}
	return draft, err
}

// unsavedDraft has an agent's own settings and the revision 0.
func unsavedDraft(agent Agent) Draft {
	return Draft{
		AgentID: agent.ID, TenantID: agent.TenantID, WorkspaceID: agent.WorkspaceID, Name: agent.Name, Config: agent.Config,
		BaseVersion: agent.Version, CreatedAt: agent.UpdatedAt, UpdatedAt: agent.UpdatedAt, Published: agent,
	}
}

// savedDraft returns the draft of an agent. Errors: NotFound not-found and agent-draft-not-found.
func (s *Service) savedDraft(ctx context.Context, ref workspaces.Ref, id ID) (Draft, error) {
	agent, err := s.Get(ctx, ref, id)
	if err != nil {
		return Draft{}, err
	}
	return draftOf(ctx, s.db, agent)
}

// FindDraft returns the draft of an agent of any workspace the caller may touch. Errors: NotFound
// not-found and agent-draft-not-found.
func (s *Service) FindDraft(ctx context.Context, p workspaces.Principal, id ID) (Draft, error) {
	agent, err := s.Find(ctx, p, id)
	if err != nil {
		return Draft{}, err
	}
	return draftOf(ctx, s.db, agent)
}

// SaveDraftParams are the settings of a draft.
type SaveDraftParams struct {
	Name   string
	Config Config
	// Revision is the one that the caller has seen, 0 if there was no draft; nil: the draft is saved
	// whatever there is.
	Revision *int
	// BaseVersion is the version of the agent that the caller has seen; 0: its latest. It counts when
	// the draft is begun.
	BaseVersion int
	// By is the name of who saves it.
	By string
}

// SaveDraft makes the draft of an agent, or puts it in place of the one there is. It is checked as
// Create checks an agent. Errors: those of Create with the fields below agent, NotFound not-found,
// Precondition agent-draft-changed.
func (s *Service) SaveDraft(ctx context.Context, ref workspaces.Ref, id ID, p SaveDraftParams) (Draft, error) {
	if err := s.checkNew(ctx, ref, p.Config); err != nil {
		return Draft{}, below("agent", err)
	}
	now := s.timestamp()
	var draft Draft
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		agent, err := lockAgent(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		draft, err = draftOf(ctx, tx, agent)
		begun := err == nil
		switch {
		case fault.IsReason(err, fault.AgentDraftNotFound) && p.Revision != nil && *p.Revision > 0:
			return fault.New(fault.AgentDraftChanged,
				"The draft was published or discarded meanwhile; save with revision 0 to begin another one.")
		case fault.IsReason(err, fault.AgentDraftNotFound):
			if p.BaseVersion > agent.Version {
				return fault.InvalidField("base_version", "unknown", "The agent has no such version; its latest is %d.", agent.Version)
			}
			draft = unsavedDraft(agent)
			draft.CreatedAt, draft.BaseVersion = now, cmp.Or(p.BaseVersion, agent.Version)
		case err != nil:
			return err
		}
		if err := draft.checkRevision(p.Revision); err != nil {
			return err
		}
		draft.Name, draft.Config, draft.UpdatedBy, draft.UpdatedAt = p.Name, p.Config.withDefaults(), p.By, now
		if draft.Revision, err = nextRevision(ctx, tx, agent); err != nil {
			return err
		}
		return saveDraft(ctx, tx, draft, begun)
	})
	return draft, err
}

// CompareDraft lists the fields in which the draft of an agent differs from its latest version.
// Errors: NotFound not-found and agent-draft-not-found.
func (s *Service) CompareDraft(ctx context.Context, ref workspaces.Ref, id ID) ([]Change, error) {
	draft, err := s.savedDraft(ctx, ref, id)
	if err != nil {
		return nil, err
	}
	return compare(versionOf(draft.Published), versionOf(draft.Agent()))
}

// PublishParams say which draft is published.
type PublishParams struct {
	// Revision is the one that the caller has seen; nil: any.
	Revision *int
	// Overwrite publishes also what gives up changes that the agent got since the draft was begun.
	Overwrite bool
}

// PublishDraft saves the draft of an agent as its next version, and removes the draft. Without a
// difference it saves no version. Errors: those of Update, NotFound agent-draft-not-found,
// Precondition agent-draft-changed and agent-draft-stale.
func (s *Service) PublishDraft(ctx context.Context, ref workspaces.Ref, id ID, p PublishParams) (Agent, error) {
	now := s.timestamp()
	draft, err := s.savedDraft(ctx, ref, id)
	if err != nil {
		return Agent{}, err
	}
	if err := s.checkModels(ctx, ref, draft.Config, draft.Published.Config); err != nil {
		return Agent{}, err
	}
	seen := p.Revision
	if seen == nil {
		seen = &draft.Revision // what was checked is what is published
	}
	var agent Agent
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if agent, err = lockAgent(ctx, tx, ref, id); err != nil {
			return err
		}
		draft, err := draftOf(ctx, tx, agent)
		if err != nil {
			return err
		}
		if err := draft.checkRevision(seen); err != nil {
			return err
		}
		if draft.Stale() && !p.Overwrite {
			return fault.New(fault.AgentDraftStale, "The draft was begun at version %d, and the agent is at version %d by now. "+
				"Compare the two, then publish with overwrite, or discard the draft.", draft.BaseVersion, agent.Version)
		}
		err = s.saveChange(ctx, tx, &agent, func(name *string, config *Config) { *name, *config = draft.Name, draft.Config }, now)
		if err != nil {
			return err
		}
		_, err = deleteDraft(ctx, tx, ref, id)
		return err
	})
	return agent, err
}

// DeleteDraft removes the draft of an agent. Errors: NotFound not-found and agent-draft-not-found.
func (s *Service) DeleteDraft(ctx context.Context, ref workspaces.Ref, id ID) error {
	if _, err := s.Get(ctx, ref, id); err != nil {
		return err
	}
	deleted, err := deleteDraft(ctx, s.db, ref, id)
	if err == nil && !deleted {
		return noDraft(id)
	}
	return err
}

func noDraft(id ID) error {
	return fault.New(fault.AgentDraftNotFound, "The agent %s has no draft; save one first.", id)
}

// below returns an error whose fields are those of a member of the request.
func below(member string, err error) error {
	decided, ok := errors.AsType[*fault.Error](err)
	if !ok || len(decided.Fields) == 0 {
		return err
	}
	for i := range decided.Fields {
		decided.Fields[i].Field = member + "." + decided.Fields[i].Field
	}
	if decided.Reason == fault.InvalidRequest {
		return fault.InvalidFields(decided.Fields...) // its message names the field
	}
	return decided
}
