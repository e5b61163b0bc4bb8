package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/pgvector/pgvector-go"
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
	// feedbackWeight is how much their mean counts beside the question.
	feedbackWeight = 2
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
	vectors, err := vectorsOf(ctx, db, ref, hits[:feedbackChunks])
	if err != nil {
		return nil, err
	}
	distances, err := distancesFrom(ctx, db, ref, withFeedback(p.vector.Slice(), vectors), hits)
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
		scores.Fused = 1 / float64(fusionK+scores.FeedbackPlace)
		if scores.WordPlace > 0 {
			scores.Fused += 1 / float64(fusionK+scores.WordPlace)
		}
	}
	slices.SortStableFunc(hits, byFused)
	return hits, nil
}

// byFused is the order of hits whose ranks were fused; equal ones by similarity.
func byFused(a, b hit) int {
	return cmp.Or(cmp.Compare(b.Scores.Fused, a.Scores.Fused), cmp.Compare(b.Similarity, a.Similarity),
		cmp.Compare(a.SourceID, b.SourceID), cmp.Compare(a.Index, b.Index))
}

// withFeedback is the direction of the question and of the mean of vectors together.
func withFeedback(question []float32, vectors []pgvector.Vector) pgvector.Vector {
	mean := make([]float64, len(question))
	for _, vector := range vectors {
		for i, x := range vector.Slice() {
			if i < len(mean) {
				mean[i] += float64(x)
			}
		}
	}
	length := func(square float64) float64 { return max(math.Sqrt(square), math.SmallestNonzeroFloat32) }
	var squareQ, squareM float64
	for i := range mean {
		squareQ += float64(question[i]) * float64(question[i])
		squareM += mean[i] * mean[i]
	}
	sum := make([]float32, len(mean))
	for i := range mean {
		sum[i] = float32(float64(question[i])/length(squareQ) + feedbackWeight*mean[i]/length(squareM))
	}
	return pgvector.NewVector(sum)
}

func idsOf(hits []hit) []ChunkID {
	ids := make([]ChunkID, len(hits))
	for i, one := range hits {
		ids[i] = one.ID
	}
	return ids
}

func vectorsOf(ctx context.Context, db bun.IDB, ref workspaces.Ref, hits []hit) ([]pgvector.Vector, error) {
	var chunks []Chunk
	err := db.NewSelect().Model(&chunks).Column("embedding").Where("c.tenant_id = ?", ref.TenantID).
		Where("c.workspace_id = ?", ref.ID).Where("c.id IN (?)", bun.List(idsOf(hits))).OrderExpr("c.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the vectors of the best chunks: %w", err)
	}
	vectors := make([]pgvector.Vector, len(chunks))
	for i, chunk := range chunks {
		vectors[i] = chunk.Embedding
	}
	return vectors, nil
}

// distancesFrom are the distances of the hits from a vector.
func distancesFrom(ctx context.Context, db bun.IDB, ref workspaces.Ref, vector pgvector.Vector, hits []hit) (map[ChunkID]float64, error) {
	var rows []hit
	err := db.NewSelect().Model((*Chunk)(nil)).Column("id").ColumnExpr("c.embedding <=> ?::vector AS distance", vector).
		Where("c.tenant_id = ?", ref.TenantID).Where("c.workspace_id = ?", ref.ID).Where("c.id IN (?)", bun.List(idsOf(hits))).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("compare with the best chunks: %w", err)
	}
	distances := make(map[ChunkID]float64, len(rows))
	for _, row := range rows {
		distances[row.ID] = row.Distance
	}
	return distances, nil
}
