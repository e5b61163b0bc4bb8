package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

// Pseudo-relevance feedback: the best chunks say in their own words what the question is about.
// The numbers were compared on the collections Cranfield, CISI and CACM; docs/benchmarks.md has
// what they give (task eval:retrieval). Source: Rocchio, in Manning, Raghavan and Schütze, Introduction to Information
// Retrieval, chapter 9.
const (
	// feedbackChunks are taken as what the question is about.
	feedbackChunks = 5
	// feedbackLeast is how many chunks there must be to tell apart: among a few, the best five
	// are most of what there is, and say little.
	feedbackLeast = 50
)

// refine orders fused hits anew: by the sum of the reciprocal ranks of the words' order and of the
// similarity to the question and the best hits together. The similarities of the hits stay those
// with the question alone, and no hit is added or lost.
func refine(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, hits []hit) ([]hit, error) {
	if len(hits) < feedbackLeast {
		return hits, nil
	}
	distances, err := distancesWithFeedback(ctx, db, ref, p, hits)
	if err != nil {
		return nil, err
	}
	byDistance := make([]int, len(hits))
	for i := range hits {
		byDistance[i] = i
	}
	slices.SortStableFunc(byDistance, func(a, b int) int { return cmp.Compare(distances[hits[a].ID], distances[hits[b].ID]) })
	for place, i := range byDistance {
		scores := &hits[i].Scores
		scores.FeedbackPlace = place + 1
		scores.Fused = reciprocal(scores.FeedbackPlace) + reciprocal(scores.WordPlace)
	}
	slices.SortStableFunc(hits, byFused)
	return hits, nil
}

// byFused is the order of hits whose ranks were fused; equal ones by similarity.
func byFused(a, b hit) int {
	return cmp.Or(cmp.Compare(b.Scores.Fused, a.Scores.Fused), cmp.Compare(b.Similarity, a.Similarity),
		cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.Index, b.Index))
}

func idsOf(hits []hit) []ChunkID {
	ids := make([]ChunkID, len(hits))
	for i, one := range hits {
		ids[i] = one.ID
	}
	return ids
}

// distancesWithFeedback are the distances of the hits from the question and twice the mean of the
// best of them, each of length 1.
func distancesWithFeedback(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, hits []hit) (map[ChunkID]float64, error) {
	ids := idsOf(hits)
	var rows []hit
	err := db.NewRaw(`
		WITH best AS (
			SELECT l2_normalize(avg(embedding)) AS mean
			FROM chunks
			WHERE tenant_id = ?
			  AND workspace_id = ?
			  AND id IN (?)
		)
		SELECT c.id,
		       c.embedding <=> (SELECT l2_normalize(?::vector) + mean + mean FROM best) AS distance
		FROM chunks AS c
		WHERE c.tenant_id = ?
		  AND c.workspace_id = ?
		  AND c.id IN (?)`, ref.TenantID, ref.ID, bun.List(ids[:feedbackChunks]), p.vector, ref.TenantID, ref.ID, bun.List(ids)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("compare with the best chunks: %w", err)
	}
	distances := make(map[ChunkID]float64, len(rows))
	for _, row := range rows {
		distances[row.ID] = row.Distance
	}
	return distances, nil
}
