package memory

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

const (
	// DefaultTopK and MaxTopK bound what a search returns. Source: tools/builtin.go.
	DefaultTopK, MaxTopK = 5, 20
	// candidates are compared by their vectors, of those that the codes chose.
	candidates = 100
	// ranks are those of them whose words and age are looked at: at least so many, and twice what is wanted.
	ranks = 15
	// unembeddedMost bounds those that are compared by their words, the newest.
	unembeddedMost = 500
	// halfLife is the age at which a memory's recency is half, recencyWeight its share of the score: of two that
	// fit about as well the newer goes first, and no age hides what fits.
	halfLife      = 60 * 24 * time.Hour
	recencyWeight = 0.1
)

// Found is a memory that a search found.
type Found struct {
	Item
	// Similarity is 0 to 1, Score what the order is by.
	Similarity float64 `bun:"similarity"`
	Score      float64 `bun:"-"`
	// Compared is how many vectors were, those of this one among them.
	Compared int `bun:"compared"`
}

// nearestSQL compares the vectors with these numbers, and those that came meanwhile, and reads the nearest.
const nearestSQL = `
SELECT m.*,
       near.similarity,
       near.compared
FROM (
    SELECT v.memory_id,
           1 - (v.embedding <=> ?::halfvec) AS similarity,
           count(*) OVER () AS compared
    FROM (
        SELECT c.memory_id, c.embedding
        FROM memory_vectors AS c
        WHERE c.workspace_id = ?
          AND c.user_id = ?
          AND c.model = ?
          AND c.number = ANY (?::bigint[])
        UNION ALL
        SELECT c.memory_id, c.embedding
        FROM memory_vectors AS c
        WHERE c.workspace_id = ?
          AND c.user_id = ?
          AND c.model = ?
          AND c.number > ?
    ) AS v
    ORDER BY similarity DESC
) AS near
JOIN memories AS m ON m.id = near.memory_id
WHERE m.tenant_id = ?
  AND m.workspace_id = ?
  AND m.user_id = ?
  AND m.status = 'active'
  AND (m.expires_at IS NULL OR m.expires_at > ?)
ORDER BY near.similarity DESC
LIMIT ?`

// othersSQL reads what has no vector of the model.
const othersSQL = `
SELECT m.*,
       -1.0::float8 AS similarity,
       0 AS compared
FROM (
    SELECT d.memory_id
    FROM memory_embeddings_due AS d
    WHERE d.tenant_id = ?
      AND d.workspace_id = ?
      AND d.user_id = ?
    UNION
    SELECT o.memory_id
    FROM memory_vectors AS o
    WHERE o.tenant_id = ?
      AND o.workspace_id = ?
      AND o.user_id = ?
      AND (o.model < ? OR o.model > ?)
) AS d
JOIN memories AS m ON m.id = d.memory_id
WHERE m.tenant_id = ?
  AND m.workspace_id = ?
  AND m.user_id = ?
  AND m.status = 'active'
  AND (m.expires_at IS NULL OR m.expires_at > ?)
ORDER BY m.created_at DESC
LIMIT ?`

// Search finds the memories of a user that bear on the query, the most fitting first, at most topK
// (0: DefaultTopK). What has no vector yet, and all while the embedder is away, is found by its words.
func (s *Service) Search(ctx context.Context, ref workspaces.Ref, userID, query string, topK int) ([]Found, error) {
	topK = min(cmp.Or(topK, DefaultTopK), MaxTopK)
	if !validUser(userID) {
		return nil, nil
	}
	now := s.moment()
	if aboutAll(query) {
		return s.latest(ctx, ref, userID, topK, now)
	}
	found, err := s.nearest(ctx, ref, userID, query, max(ranks, 2*topK), now)
	if err != nil {
		return nil, err
	}
	return ranked(found, query, topK, now), nil
}

// question embeds a query; nil when the embedder is away.
func (s *Service) question(ctx context.Context, query string) *modelVector {
	bounded, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors, err := s.embedder.Embed(bounded, []string{query}, embedding.Query)
	if err != nil || len(vectors) != 1 {
		s.log.WarnContext(ctx, "memory is searched by words only", telemetry.KeyError, err)
		return nil
	}
	return &modelVector{s.embedder.Model().Name, vectors[0]}
}

// nearest are the memories that are nearest to the query, and those that have no vector yet; while the embedder is
// away the newest.
func (s *Service) nearest(ctx context.Context, ref workspaces.Ref, userID, query string, most int, now time.Time) ([]Found, error) {
	v := s.question(ctx, query)
	if v == nil {
		return s.newest(ctx, ref, userID, now)
	}
	asked := codeOf(v.values)
	for again := false; ; again = true {
		known, others, err := s.codesOf(ctx, ref, userID, v.model)
		if err != nil {
			return nil, err
		}
		// In this order: one that gets its vector meanwhile is in both, and not in none.
		var without []Found
		if others {
			if without, err = s.without(ctx, ref, userID, v.model, now); err != nil {
				return nil, err
			}
		}
		numbers := known.nearest(asked, candidates)
		found, err := s.compare(ctx, ref, userID, v, numbers, known.seen, most, now)
		if err != nil {
			return nil, err
		}
		compared := 0
		if len(found) > 0 {
			compared = found[0].Compared
		}
		if 4*compared < 3*len(numbers) { // many are gone, and may have taken the places of others
			s.codes.Delete(codesKey{ref, userID, v.model})
			if len(numbers) < len(known.numbers) && !again {
				continue
			}
		}
		for _, one := range without {
			if !slices.ContainsFunc(found, func(other Found) bool { return other.ID == one.ID }) {
				found = append(found, one)
			}
		}
		return found, nil
	}
}

// compare compares vectors with the question's.
func (s *Service) compare(ctx context.Context, ref workspaces.Ref, userID string, v *modelVector, numbers []int64, seen int64, most int, now time.Time) (found []Found, err error) {
	err = s.db.NewRaw(nearestSQL,
		pgvector.NewHalfVector(v.values).String(),
		ref.ID, userID, v.model, pgdialect.Array(numbers), ref.ID, userID, v.model, seen,
		ref.TenantID, ref.ID, userID, now, most).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("search memories: %w", err)
	}
	return found, nil
}

// without are those that have no vector of the model.
func (s *Service) without(ctx context.Context, ref workspaces.Ref, userID, model string, now time.Time) (found []Found, err error) {
	err = s.db.NewRaw(othersSQL,
		ref.TenantID, ref.ID, userID, ref.TenantID, ref.ID, userID, model, model,
		ref.TenantID, ref.ID, userID, now, unembeddedMost).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("search memories without a vector: %w", err)
	}
	return found, nil
}

// newest are those that are compared by their words when there is no vector of the question.
func (s *Service) newest(ctx context.Context, ref workspaces.Ref, userID string, now time.Time) ([]Found, error) {
	var items []Item
	err := ofUser(s.db.NewSelect().Model(&items), ref, userID).Where("m.status = ?", Active).
		Where("(m.expires_at IS NULL OR m.expires_at > ?)", now).OrderExpr("m.created_at DESC").Limit(4 * unembeddedMost).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("search memories by words: %w", err)
	}
	found := make([]Found, len(items))
	for i, item := range items {
		found[i] = Found{Item: item, Similarity: -1}
	}
	return found, nil
}

// ranked orders what was found and leaves out what does not bear on the query.
func ranked(found []Found, query string, topK int, now time.Time) []Found {
	wanted := stemsOf(query)
	kept := found[:0]
	for _, one := range found {
		words := sharedWords(wanted, one.Item)
		if one.Similarity < 0 {
			one.Similarity = words
		} else {
			one.Similarity = min(1, one.Similarity)
		}
		if one.Similarity <= 0 {
			continue
		}
		// A tag or word that is there counts beside the vector, which may not know it.
		fit := max(one.Similarity, 0.5*one.Similarity+0.5*words)
		one.Score = fit*(1-recencyWeight) + recencyWeight*math.Exp2(-now.Sub(one.UpdatedAt).Hours()/halfLife.Hours())
		kept = append(kept, one)
	}
	slices.SortStableFunc(kept, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
	})
	return kept[:min(len(kept), topK)]
}

// sharedWords is the share of the query's words that a memory has.
func sharedWords(wanted []string, item Item) float64 {
	if len(wanted) == 0 {
		return 0
	}
	has := map[string]bool{}
	for _, text := range append([]string{item.Text, item.Category, item.Attribute}, item.Tags...) {
		for _, stem := range stemsOf(text) {
			has[stem] = true
		}
	}
	shared := 0
	for _, stem := range wanted {
		if has[stem] {
			shared++
		}
	}
	return float64(shared) / float64(len(wanted))
}

// allWords are what people ask with for all there is.
var allWords = words("what which who all everything anything something know knows known remember remembers remembered recall learnt learned noted notes memory memories tell about store stored saved information")

// aboutAll says that a query is for all that is known, and for nothing in it.
func aboutAll(query string) bool {
	asked := plainWords(query)
	for _, word := range asked {
		if !allWords[word] && !emptyWords[word] {
			return false
		}
	}
	return true
}

// latest are the newest memories, statements first.
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
