package main

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/workspaces"
)

const (
	// chunkDepth of a ranking are looked at, so that depthAll documents are among them though
	// some have several chunks.
	chunkDepth = 2 * depthAll
	// atOnce is how many documents are ingested, and questions asked, at the same time.
	atOnce = 4
	// attachAtOnce is the most that one attach takes.
	attachAtOnce = 100
	// seed of the bootstrap.
	seed = 1
)

// base is a knowledge base to fill.
type base struct {
	knowledge *knowledge.Service
	ingestion *ingestion.Service
	agents    *agents.Service
	ref       workspaces.Ref
}

// outcome is the figures of each ranking, by question.
type outcome struct {
	questions, documents int
	bm25                 []figuresOf
	similarity           []figuresOf
	hybrid               []figuresOf
	model                string
}

// run fills the base with the collection and asks its questions by every ranking.
func run(ctx context.Context, b base, c collection) (outcome, error) {
	agent, err := b.agents.Create(ctx, b.ref, "eval", agents.Config{})
	if err != nil {
		return outcome{}, fmt.Errorf("making the agent: %w", err)
	}
	names, err := b.fill(ctx, agent.ID, c.documents)
	if err != nil {
		return outcome{}, err
	}
	status, err := b.knowledge.EmbeddingStatus(ctx, b.ref)
	if err != nil {
		return outcome{}, fmt.Errorf("asking for the model: %w", err)
	}
	o := outcome{questions: len(c.questions), documents: len(c.documents), model: status.AnsweringModel, bm25: plain(c)}
	for ranking, into := range map[knowledge.Ranking]*[]figuresOf{
		knowledge.RankSimilarity: &o.similarity,
		knowledge.RankHybrid:     &o.hybrid,
	} {
		if *into, err = b.ask(ctx, agent.ID, ranking, c.questions, names); err != nil {
			return outcome{}, err
		}
	}
	return o, nil
}

// fill makes a source of each document, waits until it is ready and attaches it; it returns the
// documents' ids by source.
func (b base) fill(ctx context.Context, agent agents.ID, documents []document) (map[knowledge.SourceID]string, error) {
	ids := make([]knowledge.SourceID, len(documents))
	group, filling := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, d := range documents {
		group.Go(func() error {
			upload := knowledge.UploadParams{Filename: "document.txt", MediaType: "text/plain; charset=utf-8", Name: d.id}
			source, err := b.knowledge.Upload(filling, b.ref, upload, strings.NewReader(d.whole()))
			if err != nil {
				return fmt.Errorf("uploading document %s: %w", d.id, err)
			}
			if err := b.ingestion.Ingest(filling, source.ID); err != nil {
				return fmt.Errorf("ingesting document %s: %w", d.id, err)
			}
			ids[i] = source.ID
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	names := make(map[knowledge.SourceID]string, len(ids))
	for start := 0; start < len(ids); start += attachAtOnce {
		part := ids[start:min(start+attachAtOnce, len(ids))]
		if _, err := b.knowledge.Attach(ctx, b.ref, knowledge.AttachParams{AgentID: agent, SourceIDs: part}); err != nil {
			return nil, fmt.Errorf("attaching: %w", err)
		}
	}
	for i, id := range ids {
		names[id] = documents[i].id
	}
	return names, nil
}

// ask asks each question.
func (b base) ask(ctx context.Context, agent agents.ID, ranking knowledge.Ranking, questions []question,
	names map[knowledge.SourceID]string,
) ([]figuresOf, error) {
	results := make([]figuresOf, len(questions))
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, q := range questions {
		group.Go(func() error {
			sources, err := b.knowledge.Rank(asking, b.ref, agent, q.text, ranking, chunkDepth)
			if err != nil {
				return fmt.Errorf("asking question %s: %w", q.id, err)
			}
			var documents []string
			seen := map[knowledge.SourceID]bool{}
			for _, source := range sources {
				if !seen[source] {
					seen[source] = true
					documents = append(documents, names[source])
				}
			}
			results[i] = measure(documents, q.gains)
			return nil
		})
	}
	return results, group.Wait() //nolint:wrapcheck // each says what it did
}

// plain ranks by BM25 alone.
func plain(c collection) []figuresOf {
	analyser := lexicon.New(lexicon.Detect(sample(c.documents)))
	ids := make([]string, len(c.documents))
	terms := make([][]string, len(c.documents))
	for i, d := range c.documents {
		ids[i], terms[i] = d.id, analyser.Terms(d.whole())
	}
	index := newBM25(ids, terms)
	results := make([]figuresOf, len(c.questions))
	for i, q := range c.questions {
		results[i] = measure(index.rank(analyser.Terms(q.text), chunkDepth), q.gains)
	}
	return results
}

// sample is text enough to detect the collection's language.
func sample(documents []document) string {
	var text strings.Builder
	for _, d := range documents[:min(50, len(documents))] {
		text.WriteString(d.whole())
		text.WriteByte('\n')
	}
	return text.String()
}
