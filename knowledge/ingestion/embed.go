package ingestion

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pgvector/pgvector-go"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

const (
	// localBatch is how many texts an embedder of this process gets at once: few, so that all cores
	// have some.
	localBatch = 32
)

// codeEmbeddingRefused is the error code of a source with a passage that the model does not take.
const codeEmbeddingRefused document.ErrorKind = "embedding-refused"

// embedBatches embeds texts in batches of the model's, several at once, and calls done with the
// bounds of each batch and its vectors; not in order, and from several goroutines.
// Errors: *embedding.Refused with the index among texts, the embedder's, done's.
func (s *Service) embedBatches(ctx context.Context, tenant workspaces.TenantID, embedder embedding.Embedder,
	texts []string, done func(ctx context.Context, from int, vectors [][]float32) error,
) error {
	model := embedder.Model()
	size, atOnce := max(model.MaxBatch, 1), s.slots.calls
	if model.Local {
		size, atOnce = min(size, localBatch), s.slots.cores
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	// A failure ends no other call: what is on its way has to be paid for, and is kept.
	var failed atomic.Bool
	for from := 0; from < len(texts) && !failed.Load() && ctx.Err() == nil; from += size {
		group.Go(func() (err error) {
			defer func() {
				if err != nil {
					failed.Store(true)
				}
			}()
			vectors, err := s.embedBatch(ctx, tenant, embedder, texts[from:min(from+size, len(texts))])
			if refused, ok := errors.AsType[*embedding.Refused](err); ok {
				return &embedding.Refused{Index: from + refused.Index, Err: refused.Err}
			}
			if err != nil {
				return fmt.Errorf("embed: %w", err)
			}
			return done(ctx, from, vectors)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// embedBatch waits for a slot: a core or, at an outside embedder, a call.
func (s *Service) embedBatch(ctx context.Context, tenant workspaces.TenantID, embedder embedding.Embedder,
	texts []string,
) ([][]float32, error) {
	gate := s.slots.embed
	if embedder.Model().Local {
		gate = s.slots.compute
	}
	leave, err := gate.Enter(ctx, string(tenant))
	if err != nil {
		return nil, err
	}
	defer leave()
	return embedder.Embed(ctx, texts, embedding.Document)
}

// embed fills the chunks' vectors, equal texts once. What an outside embedder has made is kept
// until the run commits, and not asked for again by a run that follows.
func (r *run) embed(ctx context.Context, embedder embedding.Embedder, chunks []knowledge.Chunk) error {
	model := embedder.Model()
	places := make(map[textHash][]int, len(chunks))
	order := make([]textHash, 0, len(chunks))
	for i, chunk := range chunks {
		hash := textHash(sha256.Sum256([]byte(chunk.EmbeddedText())))
		if places[hash] == nil {
			order = append(order, hash)
		}
		places[hash] = append(places[hash], i)
	}
	var filled atomic.Int64
	fill := func(hash textHash, vector pgvector.Vector) {
		for _, i := range places[hash] {
			chunks[i].Model, chunks[i].Embedding = model.Name, vector
		}
		filled.Add(int64(len(places[hash])))
	}
	if !model.Local {
		known := map[textHash]bool{}
		err := r.knownVectors(ctx, model.Name, places, func(hash textHash, vector pgvector.Vector) {
			if !known[hash] {
				known[hash] = true
				fill(hash, vector)
			}
		})
		if err != nil {
			return err
		}
		order = slices.DeleteFunc(order, func(hash textHash) bool { return known[hash] })
	}
	texts := make([]string, len(order))
	for i, hash := range order {
		texts[i] = chunks[places[hash][0]].EmbeddedText()
	}
	err := r.embedBatches(ctx, r.source.TenantID, embedder, texts, func(ctx context.Context, from int, vectors [][]float32) error {
		hashes := order[from : from+len(vectors)]
		if !model.Local {
			if err := r.keepVectors(ctx, model.Name, hashes, vectors); err != nil {
				return err
			}
		}
		for i, hash := range hashes {
			fill(hash, pgvector.NewVector(vectors[i]))
		}
		return r.advance(ctx, progressEmbedding+(progressStoring-progressEmbedding)*int(filled.Load())/len(chunks))
	})
	if refused, ok := errors.AsType[*embedding.Refused](err); ok {
		return refusedPassage(chunks[places[order[refused.Index]][0]], refused)
	}
	return err
}

// refusedPassage is the fault of a source with a passage that the model does not take.
func refusedPassage(c knowledge.Chunk, refused *embedding.Refused) error {
	return &document.Error{Kind: codeEmbeddingRefused, Message: fmt.Sprintf(
		"The embedding model does not take the passage %s. %s "+
			"Change that passage, or have the installation use a model that takes longer texts.", place(c), fault.From(refused.Err).Message)}
}

// place says where a chunk stands.
func place(c knowledge.Chunk) string {
	var where []string
	if c.PageStart > 0 {
		where = append(where, fmt.Sprintf("on page %d", c.PageStart))
	}
	if c.Heading != "" {
		where = append(where, fmt.Sprintf("under %q", c.Heading))
	}
	return strings.Join(append(where, fmt.Sprintf("at characters %d to %d", c.CharStart, c.CharEnd)), ", ")
}
