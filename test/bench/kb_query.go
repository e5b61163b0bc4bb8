package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/test/figures"
)

const (
	// sectionsAFile are its chunks.
	sectionsAFile = 1000
	// questionCount are asked for each figure of time, exactCount are compared with exact search.
	questionCount = 200
	exactCount    = 50
	// recallDepth is the 10 of recall@10.
	recallDepth = 10
	queryP50    = 15
	queryP99    = 50
	leastRecall = 0.95
)

// queries measures /query in a workspace of a thousand chunks and in a large one, with agents that
// see all, a tenth and a hundredth of it.
func queries(ctx context.Context, w *world) ([]figures.Row, error) {
	var rows []figures.Row
	embed, questions, err := questionsToAsk(ctx)
	if err != nil {
		return nil, err
	}
	rows = append(rows, figures.Row{
		Name: "Embedding a question", Value: figures.Round(embed), Unit: "ms", Better: "lower", Note: "the built-in embedder, median; it is part of the times below",
	})
	for _, chunks := range []int{sectionsAFile, w.chunks} {
		p, err := w.newPlace(ctx, fmt.Sprint("query", chunks))
		if err != nil {
			return nil, err
		}
		files := make([]file, chunks/sectionsAFile)
		for i := range files {
			files[i] = file{fmt.Sprintf("handbook-%d.md", i), "text/markdown", newWriter(uint64(i)).handbook(sectionsAFile)} //nolint:gosec // counts from 0
		}
		ids, err := w.uploadAll(ctx, p, files)
		if err == nil {
			err = w.awaitReady(ctx, ids, 15*time.Minute)
		}
		if err != nil {
			return nil, err
		}
		indexed, err := w.awaitIndex(ctx, p, chunks)
		if err != nil {
			return nil, err
		}
		for _, percent := range []int{100, 10, 1} {
			some := ids[:len(ids)*percent/100]
			if len(some) == 0 {
				continue
			}
			measured, err := w.queryAgent(ctx, p, some, questions, fmt.Sprintf("%d chunks, %d %% attached", chunks, percent), indexed)
			if err != nil {
				return nil, err
			}
			rows = append(rows, measured...)
		}
	}
	return rows, nil
}

// question is one with its vector.
type question struct {
	text   string
	vector pgvector.Vector
}

// questionsToAsk are questions, and how long it takes to embed one in ms.
func questionsToAsk(ctx context.Context) (took float64, questions []question, err error) {
	embedder, text := hashing.New(), newWriter(1<<40)
	var times []float64
	for range questionCount {
		text.turn()
		one := question{text: text.sentence(8)}
		began := time.Now()
		vectors, err := embedder.Embed(ctx, []string{one.text}, embedding.Query)
		if err != nil {
			return 0, nil, err
		}
		times = append(times, millis(time.Since(began)))
		one.vector = pgvector.NewVector(vectors[0])
		questions = append(questions, one)
	}
	return figures.Median(times), questions, nil
}

// awaitIndex waits until the worker has made the large workspace's index, which it looks after each
// minute; a workspace that is searched exactly gets none.
func (w *world) awaitIndex(ctx context.Context, p place, chunks int) (bool, error) {
	if _, err := w.db.Pool.Exec(ctx, "ANALYZE chunks"); err != nil {
		return false, fmt.Errorf("analysing: %w", err)
	}
	if chunks <= indexedFrom {
		return false, nil
	}
	return true, w.await(ctx, 10*time.Minute, "the index", func() (bool, error) {
		var covered int
		err := w.db.Pool.QueryRow(ctx, "SELECT coalesce(max(chunk_count), 0) FROM vector_indexes WHERE workspace_id = $1", p.workspace).Scan(&covered)
		return covered >= chunks*9/10, err
	})
}

// indexedFrom is above what knowledge searches exactly and indexes not, with room.
const indexedFrom = 30_000

func (w *world) queryAgent(ctx context.Context, p place, ids []string, questions []question, what string, indexed bool) ([]figures.Row, error) {
	agent, err := w.newAgent(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := w.attach(ctx, p, agent, ids); err != nil {
		return nil, err
	}
	similarity, answers, err := w.askAll(ctx, p, agent, "similarity", questions)
	if err != nil {
		return nil, err
	}
	hybrid, _, err := w.askAll(ctx, p, agent, "hybrid", questions)
	if err != nil {
		return nil, err
	}
	recall, exact, err := w.recall(ctx, p, agent, questions[:exactCount], answers)
	if err != nil {
		return nil, err
	}
	var seen int
	if err := w.db.Pool.QueryRow(ctx, "SELECT sum(chunk_count) FROM sources WHERE id = ANY ($1)", ids).Scan(&seen); err != nil {
		return nil, fmt.Errorf("counting chunks: %w", err)
	}
	how := "searched exactly or by the index, as the shipped settings decide"
	if !indexed {
		how = "searched exactly"
	}
	return []figures.Row{
		figures.Row{Name: "Query, " + what + ": p50", Value: figures.Round(quantile(similarity, 0.5)), Unit: "ms", Better: "lower", Note: fmt.Sprintf("POST …/query, top_k 10, one after the other over REST, embedding and HTTP included; %d questions over %d chunks; %s", len(questions), seen, how)}.To(queryP50),
		figures.Row{Name: "Query, " + what + ": p99", Value: figures.Round(quantile(similarity, 0.99)), Unit: "ms", Better: "lower", Note: "the same requests"}.To(queryP99),
		figures.Row{Name: "Query, " + what + ": recall@10 against exact", Value: figures.Round(recall), Better: "higher", Note: fmt.Sprintf("%d questions; exact search in Postgres takes %.0f ms in the median", exactCount, figures.Median(exact))}.To(leastRecall),
		{Name: "Query by hybrid ranking, " + what + ": p50", Value: figures.Round(quantile(hybrid, 0.5)), Unit: "ms", Better: "lower", Note: fmt.Sprintf("p99 %.3g ms", quantile(hybrid, 0.99))},
	}, nil
}

// askAll asks the questions one after the other, after a few to warm up; times in ms and the
// chunks found.
func (w *world) askAll(ctx context.Context, p place, agent, ranking string, questions []question) ([]float64, [][]string, error) {
	times, answers := []float64{}, [][]string{}
	for i, q := range append(questions[:10:10], questions...) {
		began := time.Now()
		found, err := w.ask(ctx, p, agent, ranking, q.text)
		if err != nil {
			return nil, nil, err
		}
		if i >= 10 {
			times, answers = append(times, millis(time.Since(began))), append(answers, found)
		}
	}
	return times, answers, nil
}

// ask is one query; the ids of what it found.
func (w *world) ask(ctx context.Context, p place, agent, ranking, text string) ([]string, error) {
	body, err := json.Marshal(map[string]any{"agent_id": agent, "q": text, "top_k": recallDepth, "ranking": ranking})
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	var answer struct {
		Chunks []struct {
			ID string `json:"id"`
		} `json:"chunks"`
	}
	if err := w.at(p).do(ctx, http.MethodPost, "/workspaces/"+p.workspace+"/knowledge-base/query", body, &answer); err != nil {
		return nil, err
	}
	ids := make([]string, len(answer.Chunks))
	for i, chunk := range answer.Chunks {
		ids[i] = chunk.ID
	}
	return ids, nil
}

// recall is the part of the truly nearest chunks that were found; those as near as the last of them
// count as well. It also returns how long each exact search took, in ms.
func (w *world) recall(ctx context.Context, p place, agent string, questions []question, answers [][]string) (float64, []float64, error) {
	var sum float64
	var times []float64
	for i, q := range questions {
		began := time.Now()
		// Adding a zero leaves no index to take.
		rows, err := w.db.Pool.Query(ctx, `
			SELECT (c.embedding <=> $1::vector) + 0 AS distance
			FROM source_attachments AS a
			JOIN chunks AS c ON c.workspace_id = a.workspace_id AND c.source_id = a.source_id
			WHERE a.workspace_id = $2
			  AND a.agent_id = $3
			ORDER BY distance
			LIMIT $4`, q.vector.String(), p.workspace, agent, recallDepth)
		if err != nil {
			return 0, nil, fmt.Errorf("searching exactly: %w", err)
		}
		distances, err := pgx.CollectRows(rows, pgx.RowTo[float64])
		if err != nil {
			return 0, nil, fmt.Errorf("searching exactly: %w", err)
		}
		times = append(times, millis(time.Since(began)))
		var found int
		err = w.db.Pool.QueryRow(ctx, `
			SELECT count(*)
			FROM chunks
			WHERE workspace_id = $1
			  AND id = ANY ($2)
			  AND (embedding <=> $3::vector) <= $4::float8 + 1e-6`, p.workspace, answers[i], q.vector.String(), distances[len(distances)-1]).Scan(&found)
		if err != nil {
			return 0, nil, fmt.Errorf("looking up what was found: %w", err)
		}
		sum += float64(min(found, len(distances))) / float64(len(distances)) / float64(len(questions))
	}
	return sum, times, nil
}
