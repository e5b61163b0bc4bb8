package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// maxAttach is how many sources one attach takes. Source: decisions, Knowledge base.
const maxAttach = 100

// AttachParams makes sources visible to an agent.
type AttachParams struct {
	AgentID agents.ID
	// SourceIDs are 1 to 100; repeated ones are merged. Tags, when it is not empty, names them
	// instead: the usable sources that pass it now.
	SourceIDs []SourceID
	Tags      agents.TagFilter
	// UsageMode: empty is UsageAuto.
	UsageMode UsageMode
}

// Attach makes sources visible to an agent, all or none, and returns the attachments in the order
// asked for. What is attached already gets the usage mode. At most 8,000 tokens may be in usage
// mode prompt. Errors: NotFound (the agent, a source), Precondition kb-source-not-ready, Invalid
// invalid-request.
func (s *Service) Attach(ctx context.Context, ref workspaces.Ref, p AttachParams) ([]Attachment, error) {
	if p.UsageMode == "" {
		p.UsageMode = UsageAuto
	}
	if p.UsageMode != UsageAuto && p.UsageMode != UsagePrompt {
		return nil, fault.InvalidField("usage_mode", "in", "usage_mode must be auto or prompt.")
	}
	if _, err := s.agent(ctx, ref, p.AgentID); err != nil {
		return nil, err
	}
	if err := s.findTagged(ctx, ref, &p); err != nil {
		return nil, err
	}
	if len(p.SourceIDs) == 0 || len(p.SourceIDs) > maxAttach {
		return nil, fault.InvalidField("source_ids", "out_of_range", "source_ids must have 1 to %d ids.", maxAttach)
	}
	now := s.moment()
	var attachments []Attachment
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		sources, err := attachable(ctx, tx, ref, p.SourceIDs)
		if err != nil {
			return err
		}
		attachments = make([]Attachment, len(sources))
		for i, source := range sources {
			attachments[i] = Attachment{
				AgentID: p.AgentID, SourceID: source.ID, TenantID: ref.TenantID, WorkspaceID: ref.ID,
				UsageMode: p.UsageMode, CreatedAt: now, SourceName: source.Name, Status: source.Status,
			}
			if err := upsertAttachment(ctx, tx, &attachments[i]); err != nil {
				return err
			}
		}
		if p.UsageMode == UsagePrompt {
			return checkAlways(ctx, tx, ref, p.AgentID)
		}
		return nil
	})
	if postgres.IsForeignKey(err, "") {
		return nil, fault.NoSuch("agent", string(p.AgentID)) // it was deleted meanwhile
	}
	return attachments, err
}

// findTagged names the sources that tags choose. Errors: Invalid invalid-request.
func (s *Service) findTagged(ctx context.Context, ref workspaces.Ref, p *AttachParams) (err error) {
	if p.Tags.IsEmpty() {
		return nil
	}
	if len(p.SourceIDs) > 0 {
		return fault.InvalidField("tags", "alone", "Send source_ids or tags.")
	}
	if err := p.Tags.Check("tags"); err != nil {
		return err
	}
	if p.SourceIDs, err = tagged(ctx, s.db, ref, p.Tags); err != nil {
		return err
	}
	switch n := len(p.SourceIDs); {
	case n == 0:
		return fault.InvalidField("tags", "nothing", "No source that is ready has these tags.")
	case n > maxAttach:
		return fault.InvalidField("tags", "out_of_range", "More than %d sources have these tags: name fewer.", maxAttach)
	}
	return nil
}

// checkAlways refuses more text in every prompt than fits. Who comes here side by side waits for
// the other, and then counts what it attached. Errors: Invalid invalid-request.
func checkAlways(ctx context.Context, tx bun.Tx, ref workspaces.Ref, agent agents.ID) error {
	if err := postgres.LockTx(ctx, tx, "always in the prompt of "+string(agent)); err != nil {
		return err
	}
	var tokens int
	err := tx.NewRaw(`
		SELECT coalesce(sum(c.token_count), 0)
		FROM source_attachments AS a
		JOIN chunks AS c ON c.workspace_id = a.workspace_id AND c.source_id = a.source_id
		WHERE a.tenant_id = ?
		  AND a.workspace_id = ?
		  AND a.agent_id = ?
		  AND a.usage_mode = ?`, ref.TenantID, ref.ID, agent, UsagePrompt).Scan(ctx, &tokens)
	if err != nil {
		return fmt.Errorf("count what is always in the prompt: %w", err)
	}
	if tokens > maxAlwaysTokens {
		return fault.InvalidField("source_ids", "too_long",
			"Nothing was attached: %d tokens would always be in the agent's prompt, and at most %d may. "+
				"Attach large sources with usage_mode auto, or detach others.", tokens, maxAlwaysTokens)
	}
	return nil
}

// attachable locks the sources against deletion and returns each once, in the order of ids.
// Errors: NotFound, Precondition kb-source-not-ready.
func attachable(ctx context.Context, tx bun.IDB, ref workspaces.Ref, ids []SourceID) ([]Source, error) {
	var rows []Source
	valid := slices.DeleteFunc(slices.Clone(ids), func(id SourceID) bool { return !idgen.Valid(idgen.Source, string(id)) })
	if len(valid) > 0 {
		err := tx.NewSelect().Model(&rows).Where("s.tenant_id = ?", ref.TenantID).Where("s.workspace_id = ?", ref.ID).
			Where("s.id IN (?)", bun.List(valid)).OrderExpr("s.id").For("KEY SHARE").Scan(ctx)
		if err != nil {
			return nil, fmt.Errorf("read sources to attach: %w", err)
		}
	}
	var sources []Source
	var waiting []string
	for _, id := range ids {
		i := slices.IndexFunc(rows, func(s Source) bool { return s.ID == id })
		if i < 0 {
			return nil, fault.NoSuch("source", string(id))
		}
		if slices.ContainsFunc(sources, func(s Source) bool { return s.ID == id }) {
			continue
		}
		if !rows[i].Usable() {
			waiting = append(waiting, fmt.Sprintf("%s is %s", id, rows[i].Status))
		}
		sources = append(sources, rows[i])
	}
	if len(waiting) > 0 {
		return nil, fault.OnField(fault.KBSourceNotReady, "source_ids",
			"Nothing was attached: %s. Wait until it is ready; what failed is to be reprocessed or deleted.", strings.Join(waiting, ", "))
	}
	return sources, nil
}

// upsertAttachment keeps created_at of an attachment that is there.
func upsertAttachment(ctx context.Context, tx bun.IDB, a *Attachment) error {
	_, err := tx.NewInsert().Model(a).On("CONFLICT (agent_id, source_id) DO UPDATE").
		Set("usage_mode = EXCLUDED.usage_mode").Where("a.workspace_id = EXCLUDED.workspace_id").Returning("created_at").Exec(ctx)
	if err != nil {
		return fmt.Errorf("attach source: %w", err)
	}
	return nil
}

// ListAttachments lists what is attached to an agent, oldest first.
// Errors: NotFound, Invalid invalid-request (page_size, page_token).
func (s *Service) ListAttachments(ctx context.Context, ref workspaces.Ref, agentID agents.ID,
	p postgres.PageParams,
) ([]Attachment, string, error) {
	if _, err := s.agent(ctx, ref, agentID); err != nil {
		return nil, "", err
	}
	p.Order = postgres.OldestFirst
	p.Filters = []string{string(ref.TenantID), string(ref.ID), string(agentID)}
	page, err := postgres.NewPage(p)
	if err != nil {
		return nil, "", err
	}
	var list []Attachment
	query := s.db.NewSelect().Model(&list).ColumnExpr("a.*").ColumnExpr("s.name AS source_name").ColumnExpr("s.status").
		Join("JOIN sources AS s ON s.workspace_id = a.workspace_id AND s.id = a.source_id").
		Where("a.tenant_id = ?", ref.TenantID).Where("a.workspace_id = ?", ref.ID).Where("a.agent_id = ?", agentID)
	if err := page.ApplyTo(query, postgres.Columns{CreatedAt: "a.created_at", ID: "a.source_id"}).Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list attachments: %w", err)
	}
	list, next := postgres.Cut(page, list, func(a Attachment) postgres.Key {
		return postgres.Key{CreatedAt: a.CreatedAt, ID: string(a.SourceID)}
	})
	return list, next, nil
}

// Detach hides a source from an agent; repeating it is not an error.
// Errors: NotFound (the agent, an id that never was a source).
func (s *Service) Detach(ctx context.Context, ref workspaces.Ref, agentID agents.ID, id SourceID) error {
	if _, err := s.agent(ctx, ref, agentID); err != nil {
		return err
	}
	_, err := s.source(ctx, s.db, ref, id)
	if fault.IsReason(err, fault.ResourceNotFound) && idgen.Valid(idgen.Source, string(id)) {
		return s.workspaces.Gone(ctx, s.db, ref.TenantID, "source", string(id))
	}
	if err != nil {
		return err
	}
	_, err = s.db.NewDelete().Model((*Attachment)(nil)).Where("tenant_id = ?", ref.TenantID).
		Where("workspace_id = ?", ref.ID).Where("agent_id = ?", agentID).Where("source_id = ?", id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("detach source: %w", err)
	}
	return nil
}
