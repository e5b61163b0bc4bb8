package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/knowledge/search"
	"parlance.dev/parlance/workspaces"
)

// Outcome says what became of a source in a query.
type Outcome string

// The outcomes. Source: decisions, Knowledge base.
const (
	OutcomeFound       Outcome = "found"
	OutcomeNotAttached Outcome = "not_attached"
	OutcomeFiltered    Outcome = "filtered_out"
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
	// not among the first search.HybridDepth of that order (of a similarity ranking, among the
	// chunks of the answer).
	SimilarityPlace int
	WordPlace       int
	// Message is a sentence that says what to do.
	Message string
}

// explain says why a source is not among the chunks that were found. Errors: NotFound (the source).
func (s *Service) explain(ctx context.Context, ref workspaces.Ref, p QueryParams, got found, chunks []Found) (*Explanation, error) {
	source, err := s.source(ctx, s.db, ref, p.ExplainSourceID)
	if err != nil {
		return nil, err
	}
	e := &Explanation{SourceID: source.ID}
	at := slices.IndexFunc(got.sets, func(set search.Set) bool { return set.SourceID == string(source.ID) })
	if slices.Contains(got.filteredOut, source.ID) {
		e.Outcome, e.Message = OutcomeFiltered, fmt.Sprintf("The tags that were asked for leave the source out; it has %s.", saidTags(source))
		return e, nil
	}
	if at < 0 {
		e.Outcome, e.Message = OutcomeNotAttached, "The source is not attached to the agent. Attach it."
		if !source.Usable() {
			e.Message = fmt.Sprintf("The source is not attached to the agent, and it is %s. Attach it when it is ready.", source.Status)
		}
		return e, nil
	}
	if set := got.sets[at]; set.ChunkCount > 0 && len(set.Disabled) == set.ChunkCount {
		e.Outcome, e.Message = OutcomeFiltered, "All passages of the source are switched off."
		return e, nil
	}
	best, compared, err := s.bestSimilarity(ctx, ref, p, got, at)
	if err != nil {
		return nil, err
	}
	e.BestSimilarity = best
	e.SimilarityPlace, e.WordPlace = bestPlaces(got.Hits, at)
	switch {
	case !source.Usable():
		e.Outcome, e.Message = OutcomeNotReady,
			fmt.Sprintf("The source is %s. Wait until it is ready, or reprocess it when it failed.", source.Status)
	case !compared:
		e.Outcome, e.Message = OutcomeNotReady,
			fmt.Sprintf("The source was embedded by %q and the question by %q. Reprocess it.", source.EmbeddingModel, got.model)
	case hasSource(chunks, source.ID):
		e.Outcome, e.Message = OutcomeFound, "Passages of the source were found."
	case best < got.least && !slices.ContainsFunc(got.Hits, func(h search.Hit) bool { return h.Set == at }):
		e.Outcome, e.Message = OutcomeBelowFloor,
			fmt.Sprintf("Its nearest passage has the similarity %.3f, under min_similarity %.3f. "+
				"Lower the floor, or ask in the source's words.", best, got.least)
	default:
		e.Outcome, e.Message = OutcomeCrowdedOut, crowdedOut(e, p)
	}
	return e, nil
}

// saidTags are the source's tags as part of a sentence.
func saidTags(source Source) string {
	if len(source.Tags) == 0 {
		return "none"
	}
	return strings.Join(source.Tags, ", ")
}

// crowdedOut says what stands before the source.
func crowdedOut(e *Explanation, p QueryParams) string {
	text := fmt.Sprintf("Passages of other sources rank higher than its nearest one (%.3f). "+
		"Raise top_k above %d, or detach what does not help.", e.BestSimilarity, p.TopK)
	if p.Ranking != RankHybrid {
		return text
	}
	say := func(place int) string {
		if place == 0 {
			return fmt.Sprintf("not among the first %d", search.HybridDepth(p.TopK))
		}
		return fmt.Sprintf("number %d", place)
	}
	return fmt.Sprintf("%s By similarity its best passage is %s, by words %s.", text, say(e.SimilarityPlace), say(e.WordPlace))
}

// bestPlaces returns the best places of a set's chunks in both orders.
func bestPlaces(hits []search.Hit, set int) (similarity, word int) {
	better := func(best, place int) int {
		if best == 0 || place != 0 && place < best {
			return place
		}
		return best
	}
	for _, hit := range hits {
		if hit.Set == set {
			similarity, word = better(similarity, hit.Scores.SimilarityPlace), better(word, hit.Scores.WordPlace)
		}
	}
	return similarity, word
}

// bestSimilarity compares the question with one of the sets. compared is false when it has no chunk
// of the question's model.
func (s *Service) bestSimilarity(ctx context.Context, ref workspaces.Ref, p QueryParams, got found,
	set int,
) (best float64, compared bool, err error) {
	ranking, err := s.index.Rank(ctx, ref, got.sets[set:set+1], search.Question{
		Text: p.Question, Vector: got.vector, Model: got.model, Limit: 1,
	})
	if err != nil || len(ranking.Hits) == 0 {
		return 0, false, err
	}
	return ranking.Hits[0].Similarity, true, nil
}
