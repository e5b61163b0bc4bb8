package knowledge

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Outcome says what became of a source in a query.
type Outcome string

// The outcomes. Source: decisions, Knowledge base.
const (
	OutcomeFound       Outcome = "found"
	OutcomeNotAttached Outcome = "not_attached"
	OutcomeNotReady    Outcome = "not_ready"
	OutcomeBelowFloor  Outcome = "below_floor"
	OutcomeCrowdedOut  Outcome = "crowded_out"
)

// Explanation says why a source is not among the chunks of an answer.
type Explanation struct {
	SourceID SourceID
	Outcome  Outcome
	// BestSimilarity of its chunks, 0 to 1; 0 when it was not compared.
	BestSimilarity float64
	// SimilarityPlace and WordPlace are its best chunk's places in the two orders, from 1; 0: it is
	// not among the first 200 of that order (of a similarity ranking, among the chunks of the answer).
	SimilarityPlace int
	WordPlace       int
	// Message is a sentence that says what to do.
	Message string
}

// explain is asked after the search, with what it found. Errors: NotFound (the source).
func (s *Service) explain(ctx context.Context, ref workspaces.Ref, p probe, found []Found, ranked []hit) (*Explanation, error) {
	source, err := s.source(ctx, s.db, ref, p.ExplainSourceID)
	if err != nil {
		return nil, err
	}
	e := &Explanation{SourceID: source.ID}
	attached, err := isAttached(ctx, s.db, ref, p)
	if err != nil {
		return nil, err
	}
	if !attached {
		e.Outcome, e.Message = OutcomeNotAttached, "The source is not attached to the agent. Attach it."
		if !source.Usable() {
			e.Message = fmt.Sprintf("The source is not attached to the agent, and it is %s. Attach it when it is ready.", source.Status)
		}
		return e, nil
	}
	best, compared, err := bestSimilarity(ctx, s.db, ref, p)
	if err != nil {
		return nil, err
	}
	e.BestSimilarity = best
	e.SimilarityPlace, e.WordPlace = bestPlaces(ranked, source.ID)
	switch {
	case !source.Usable():
		e.Outcome, e.Message = OutcomeNotReady, fmt.Sprintf("The source is %s. Wait until it is ready, or reprocess it when it failed.", source.Status)
	case !compared:
		e.Outcome, e.Message = OutcomeNotReady, fmt.Sprintf("The source was embedded by %q and the question by %q. Reprocess it.", source.EmbeddingModel, p.model)
	case hasSource(found, source.ID):
		e.Outcome, e.Message = OutcomeFound, "Passages of the source were found."
	case best < p.floor:
		e.Outcome, e.Message = OutcomeBelowFloor, fmt.Sprintf("Its nearest passage has the similarity %.3f, under min_similarity %.3f. Lower the floor, or ask in the source's words.", best, p.floor)
	default:
		e.Outcome, e.Message = OutcomeCrowdedOut, crowdedOut(e, p)
	}
	return e, nil
}

// crowdedOut says what stands before the source.
func crowdedOut(e *Explanation, p probe) string {
	text := fmt.Sprintf("Passages of other sources rank higher than its nearest one (%.3f). Raise top_k above %d, or detach what does not help.", e.BestSimilarity, p.TopK)
	if p.Ranking != RankHybrid {
		return text
	}
	say := func(place int) string {
		if place == 0 {
			return fmt.Sprintf("not among the first %d", max(searchDepth, 4*p.TopK))
		}
		return fmt.Sprintf("number %d", place)
	}
	return fmt.Sprintf("%s By similarity its best passage is %s, by words %s.", text, say(e.SimilarityPlace), say(e.WordPlace))
}

// bestPlaces are the best places of a source's chunks in both orders.
func bestPlaces(ranked []hit, id SourceID) (similarity, word int) {
	better := func(best, place int) int {
		if best == 0 || place != 0 && place < best {
			return place
		}
		return best
	}
	for _, one := range ranked {
		if one.SourceID == id {
			similarity, word = better(similarity, one.Scores.SimilarityPlace), better(word, one.Scores.WordPlace)
		}
	}
	return similarity, word
}

func isAttached(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe) (bool, error) {
	var attached bool
	err := db.NewRaw(`
		SELECT EXISTS (
			SELECT 1
			FROM source_attachments
			WHERE tenant_id = ?
			  AND workspace_id = ?
			  AND agent_id = ?
			  AND source_id = ?
		)`, ref.TenantID, ref.ID, p.AgentID, p.ExplainSourceID).Scan(ctx, &attached)
	if err != nil {
		return false, fmt.Errorf("look for the attachment: %w", err)
	}
	return attached, nil
}

// bestSimilarity compares the question with one source; compared is false when it has no chunk
// of the question's model.
func bestSimilarity(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe) (best float64, compared bool, err error) {
	err = db.NewRaw(`
		SELECT least(1, greatest(0, 1 - (embedding <=> ?::vector)))
		FROM chunks
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND source_id = ?
		  AND model = ?
		ORDER BY embedding <=> ?::vector
		LIMIT 1`, p.vector, ref.TenantID, ref.ID, p.ExplainSourceID, p.model, p.vector).Scan(ctx, &best)
	if postgres.NoRows(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("compare with the source: %w", err)
	}
	return best, true, nil
}
