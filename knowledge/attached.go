package knowledge

import (
	"context"
	"fmt"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge/search"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// attached is what a search knows of an agent before it begins.
type attached struct {
	// any says that sources are attached. always are those that are always in the prompt.
	any    bool
	always []SourceID
	// filteredOut are those that are attached and do not pass the filters.
	filteredOut []SourceID
	// model answers in the workspace; empty: nothing was embedded yet.
	model string
	// sets are to be searched, in the order of their sources.
	sets []search.Set
}

// same says that a search of both finds the same.
func (a *attached) same(other *attached) bool {
	return a.model == other.model && slices.EqualFunc(a.sets, other.sets, search.Set.Same)
}

var selectAttached = `
	SELECT a.usage_mode,
	       ` + selectAnswering("$1", "$2") + ` AS model,
	       a.source_id,
	       coalesce(w.number, 0) AS number,
	       coalesce(w.batch, 0) AS batch,
	       s.chunk_count,
	       coalesce(w.language, '') AS language,
	       coalesce(w.term_count, 0) AS term_count,
	       coalesce(w.page_count, 0) AS page_count,
	       coalesce(abs(w.version) = $4, false) AS has_words,
	       s.tags,
	       s.disabled_chunks
	FROM source_attachments AS a
	JOIN sources AS s ON s.workspace_id = a.workspace_id AND s.id = a.source_id
	LEFT JOIN source_words AS w ON w.workspace_id = a.workspace_id AND w.source_id = a.source_id
	WHERE a.tenant_id = $1
	  AND a.workspace_id = $2
	  AND a.agent_id = $3
	ORDER BY a.source_id`

// attached asks what a search begins with. Sources in the usage mode without are not searched.
func (s *Service) attached(
	ctx context.Context, ref workspaces.Ref, agent agents.ID, without UsageMode, filters []agents.TagFilter,
) (*attached, error) {
	has := &attached{}
	if _, err := s.db.Pipeline(ctx, attachedStep(ref, agent, without, filters, has)); err != nil {
		return nil, fmt.Errorf("read what is attached to the agent: %w", err)
	}
	return has, nil
}

// attachedStep reads into has what is attached to the agent.
func attachedStep(ref workspaces.Ref, agent agents.ID, without UsageMode, filters []agents.TagFilter, has *attached) postgres.Step {
	return postgres.Step{
		SQL: selectAttached, Args: []any{string(ref.TenantID), string(ref.ID), string(agent), search.WordsVersion},
		Row: func(scan func(into ...any) error) error {
			var mode string
			var set search.Set
			var tags []string
			err := scan(&mode, &has.model, &set.SourceID, &set.Number, &set.Batch, &set.ChunkCount, &set.Language,
				&set.TermCount, &set.PageCount, &set.HasWords, &tags, &set.Disabled)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(filters, func(f agents.TagFilter) bool { return !f.Passes(tags) }) {
				has.filteredOut = append(has.filteredOut, SourceID(set.SourceID))
				return nil
			}
			has.any = true
			if UsageMode(mode) == UsagePrompt {
				has.always = append(has.always, SourceID(set.SourceID))
			}
			if UsageMode(mode) != without {
				has.sets = append(has.sets, set)
			}
			return nil
		},
	}
}
