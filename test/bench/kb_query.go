package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/words"
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
		Name: "Embedding a question", Value: figures.Round(embed), Unit: "ms", Better: "lower",
		Note: "the built-in embedder, median; it is part of the times below",
	})
	for _, chunks := range []int{sectionsAFile, w.chunks} {
		p, err := w.newPlace(ctx, fmt.Sprint("query", chunks))
		if err != nil {
			return nil, err
		}
		ids, err := w.stock(ctx, p, chunks)
		if err != nil {
			return nil, err
		}
		for _, percent := range []int{100, 10, 1} {
			some := ids[:len(ids)*percent/100]
			if len(some) == 0 {
				continue
			}
			measured, err := w.queryAgent(ctx, p, some, questions, fmt.Sprintf("%d chunks, %d %% attached", chunks, percent))
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
	embedder, text := words.New(), newWriter(1<<40)
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

func (w *world) queryAgent(ctx context.Context, p place, ids []string, questions []question, what string) ([]figures.Row, error) {
	agent, err := w.newAgent(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := w.attach(ctx, p, agent, ids); err != nil {
		return nil, err
	}
	var seen int
	if err := w.db.Pool.QueryRow(ctx, "SELECT sum(chunk_count) FROM sources WHERE id = ANY ($1)", ids).Scan(&seen); err != nil {
		return nil, fmt.Errorf("counting chunks: %w", err)
	}
	var rows []figures.Row
	for _, ranking := range []string{"similarity", "hybrid"} {
		asked, err := w.askAll(ctx, p, agent, ranking, questions)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("Query by %s, %s: ", ranking, what)
		rows = append(rows,
			figures.Row{
				Name: name + "p50", Value: figures.Round(quantile(asked.times, 0.5)), Unit: "ms",
				Better: "lower", Note: fmt.Sprintf("POST …/query, top_k 10, over REST, embedding and HTTP included; %d questions one "+
					"after the other over %d chunks, after ten others, the first of which took %.3g ms", len(questions), seen, asked.first),
			}.To(queryP50),
			figures.Row{
				Name: name + "p99", Value: figures.Round(quantile(asked.times, 0.99)), Unit: "ms",
				Better: "lower", Note: fmt.Sprintf("the same requests; CPU of one: %.3g ms of the server, %.3g ms of Postgres",
					asked.server, asked.postgres),
			}.To(queryP99),
		)
		if ranking == "hybrid" {
			break
		}
		recall, exact, err := w.recall(ctx, p, agent, questions[:exactCount], asked.answers)
		if err != nil {
			return nil, err
		}
		rows = append(rows, figures.Row{
			Name: name + "recall@10 against exact", Value: figures.Round(recall),
			Better: "higher", Note: fmt.Sprintf("%d questions; exact search in Postgres takes %.0f ms in the median",
				exactCount, figures.Median(exact)),
		}.To(leastRecall))
	}
	return rows, nil
}

// asked is what came of questions: times in ms, the first one's among those to warm up, the chunks
// found, and the CPU of one in ms.
type asked struct {
	times            []float64
	first            float64
	answers          [][]string
	server, postgres float64
}

// warmUps are asked before.
const warmUps = 10

// askAll asks the questions one after the other, after others to warm up.
func (w *world) askAll(ctx context.Context, p place, agent, ranking string, questions []question) (a asked, err error) {
	var before usage
	for i, q := range slices.Concat(questions[len(questions)-warmUps:], questions) {
		if i == warmUps {
			if before, err = w.usage(); err != nil {
				return a, err
			}
		}
		began := time.Now()
		found, err := w.ask(ctx, p, agent, ranking, q.text)
		if err != nil {
			return a, err
		}
		if i == 0 {
			a.first = millis(time.Since(began))
		}
		if i >= warmUps {
			a.times, a.answers = append(a.times, millis(time.Since(began))), append(a.answers, found)
		}
	}
	after, err := w.usage()
	spent := after.minus(before)
	a.server, a.postgres = millis(spent.server)/float64(len(questions)), millis(spent.postgres)/float64(len(questions))
	return a, err
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
	if err := w.at(p).Do(ctx, http.MethodPost, "/workspaces/"+p.workspace+"/knowledge-base/query", body, &answer); err != nil {
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
			  AND (embedding <=> $3::vector) <= $4::float8 + 1e-6`, p.workspace, answers[i], q.vector.String(),
			distances[len(distances)-1]).Scan(&found)
		if err != nil {
			return 0, nil, fmt.Errorf("looking up what was found: %w", err)
		}
		sum += float64(min(found, len(distances))) / float64(len(distances)) / float64(len(questions))
	}
	return sum, times, nil
}
