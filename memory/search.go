package memory

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pgvector/pgvector-go"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

const (
	// DefaultTopK is what a search returns when its caller does not say. Source: tools/builtins.json.
	DefaultTopK = 5
	// MaxTopK is the most it returns.
	MaxTopK = 20
	// candidates is how many memories are picked by their codes and then compared by their vectors.
	candidates = 100
	// minRanked is how many of the most similar memories are ranked at least. It is twice topK
	// otherwise.
	minRanked = 15
	// maxUnembedded bounds the memories that are compared by their words only, newest first.
	maxUnembedded = 500
	// halfLife is the age at which the recency of a memory is one half. recencyWeight is the share of
	// the recency in the score: of two equally similar memories the newer comes first.
	halfLife      = 60 * 24 * time.Hour
	recencyWeight = 0.1
)

// Found is a memory that a search found.
type Found struct {
	Item
	// Similarity is from 0 to 1.
	Similarity float64 `bun:"similarity"`
	// Score decides the order.
	Score float64 `bun:"-"`
}

// searchSQL reads the memories of a user with the most similar vectors, and those without a vector
// of the model, which have the similarity -1. It first picks the vectors with the nearest codes:
// all codes are in an index, and vectors are too large to read them all.
const searchSQL = `
WITH picked AS (
    SELECT v.number
    FROM memory_vectors AS v
    WHERE v.workspace_id = ?0
      AND v.user_id = ?1
      AND v.model = ?2
    ORDER BY v.code <~> ?3::bit(512)
    LIMIT ?4
), near AS (
    SELECT v.memory_id,
           1 - (v.embedding <=> ?5::halfvec) AS similarity
    FROM picked
    JOIN memory_vectors AS v ON v.workspace_id = ?0
                            AND v.user_id = ?1
                            AND v.model = ?2
                            AND v.number = picked.number
), found AS (
    (
        SELECT m.*,
               near.similarity
        FROM near
        JOIN memories AS m ON m.id = near.memory_id
        WHERE m.tenant_id = ?6
          AND m.workspace_id = ?0
          AND m.user_id = ?1
          AND m.status = 'active'
          AND (m.expires_at IS NULL OR m.expires_at > ?7)
        ORDER BY near.similarity DESC
        LIMIT ?8
    )
    UNION ALL
    (
        SELECT m.*,
               -1.0::float8 AS similarity
        FROM (
            SELECT d.memory_id
            FROM memory_embeddings_due AS d
            WHERE d.tenant_id = ?6
              AND d.workspace_id = ?0
              AND d.user_id = ?1
            UNION
            SELECT o.memory_id
            FROM memory_vectors AS o
            WHERE o.tenant_id = ?6
              AND o.workspace_id = ?0
              AND o.user_id = ?1
              AND (o.model < ?2 OR o.model > ?2)
        ) AS d
        JOIN memories AS m ON m.id = d.memory_id
        WHERE m.tenant_id = ?6
          AND m.workspace_id = ?0
          AND m.user_id = ?1
          AND m.status = 'active'
          AND (m.expires_at IS NULL OR m.expires_at > ?7)
          AND NOT EXISTS (SELECT FROM near WHERE near.memory_id = m.id)
        ORDER BY m.created_at DESC
        LIMIT ?9
    )
)
SELECT *
FROM found`

// Search finds the memories of a user that are relevant to the query, best first, at most topK (0
// means DefaultTopK). Memories without a vector, and all while the embedder is unavailable, are
// found by their words.
func (s *Service) Search(ctx context.Context, ref workspaces.Ref, userID, query string, topK int) ([]Found, error) {
	topK = min(cmp.Or(topK, DefaultTopK), MaxTopK)
	if !validUser(userID) {
		return nil, nil
	}
	now := s.timestamp()
	if asksForAll(query) {
		return s.latest(ctx, ref, userID, topK, now)
	}
	found, err := s.similar(ctx, ref, userID, query, max(minRanked, 2*topK), now)
	if err != nil {
		return nil, err
	}
	return rank(found, query, topK, now), nil
}

// embedQuery embeds a query. It returns nil when the embedder is unavailable.
func (s *Service) embedQuery(ctx context.Context, query string) *modelVector {
	bounded, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors, err := s.embedder.Embed(bounded, []string{query}, embedding.Query)
	if err != nil || len(vectors) != 1 {
		s.log.WarnContext(ctx, "memory: search by words only", telemetry.KeyError, err)
		return nil
	}
	return &modelVector{s.embedder.Model().Name, vectors[0]}
}

// similar returns the memories with the most similar vectors, and those without a vector. While the
// embedder is unavailable it returns the newest.
func (s *Service) similar(
	ctx context.Context, ref workspaces.Ref, userID, query string, limit int, now time.Time,
) (found []Found, err error) {
	v := s.embedQuery(ctx, query)
	if v == nil {
		return s.newest(ctx, ref, userID, now)
	}
	err = s.db.NewRaw(searchSQL, ref.ID, userID, v.model, codeOf(v.values).String(), candidates,
		pgvector.NewHalfVector(v.values).String(), ref.TenantID, now, limit, maxUnembedded).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("search memories: %w", err)
	}
	return found, nil
}

// newest returns the newest memories, for a search by words.
func (s *Service) newest(ctx context.Context, ref workspaces.Ref, userID string, now time.Time) ([]Found, error) {
	var items []Item
	err := ofUser(s.db.NewSelect().Model(&items), ref, userID).Where("m.status = ?", Active).
		Where("(m.expires_at IS NULL OR m.expires_at > ?)", now).OrderExpr("m.created_at DESC").
		Limit(4 * maxUnembedded).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("search memories by words: %w", err)
	}
	found := make([]Found, len(items))
	for i, item := range items {
		found[i] = Found{Item: item, Similarity: -1}
	}
	return found, nil
}

// rank orders memories by their score, and leaves out those that are not relevant to the query.
func rank(found []Found, query string, topK int, now time.Time) []Found {
	terms := stemsOf(query)
	kept := found[:0]
	for _, one := range found {
		words := sharedWords(terms, one.Item)
		if one.Similarity < 0 {
			one.Similarity = words
		} else {
			one.Similarity = min(1, one.Similarity)
		}
		if one.Similarity <= 0 {
			continue
		}
		// Shared words and tags count beside the vector, because a model may not know them.
		relevance := max(one.Similarity, 0.5*one.Similarity+0.5*words)
		recency := math.Exp2(-now.Sub(one.UpdatedAt).Hours() / halfLife.Hours())
		one.Score = (1-recencyWeight)*relevance + recencyWeight*recency
		kept = append(kept, one)
	}
	slices.SortStableFunc(kept, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
	})
	return kept[:min(len(kept), topK)]
}

// sharedWords is the share of the words of the query that a memory has.
func sharedWords(terms []string, item Item) float64 {
	if len(terms) == 0 {
		return 0
	}
	has := map[string]bool{}
	for _, text := range append([]string{item.Text, item.Category, item.Attribute}, item.Tags...) {
		for _, stem := range stemsOf(text) {
			has[stem] = true
		}
	}
	shared := 0
	for _, stem := range terms {
		if has[stem] {
			shared++
		}
	}
	return float64(shared) / float64(len(terms))
}

// allWords are the words of queries for all memories.
var allWords = words(`what which who all everything anything something know knows known remember remembers remembered recall learnt
learned noted notes memory memories tell about store stored saved information`)

// asksForAll says that a query asks for all memories, not for particular ones.
func asksForAll(query string) bool {
	asked := plainWords(query)
	for _, word := range asked {
		if !allWords[word] && !emptyWords[word] {
			return false
		}
	}
	return true
}

// latest returns the newest memories, statements first.
func (s *Service) latest(ctx context.Context, ref workspaces.Ref, userID string, topK int, now time.Time) ([]Found, error) {
	items, err := selectRecalled(ctx, s.db, ref, userID, now)
	if err != nil {
		return nil, err
	}
	found := make([]Found, min(len(items), topK))
	for i := range found {
		found[i] = Found{Item: items[i], Similarity: 1, Score: 1}
	}
	return found, nil
}
