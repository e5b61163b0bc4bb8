package knowledge_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pgvector/pgvector-go"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
)

// library writes texts that are alike as texts of a library are: words as rare as Zipf has it, and
// topics with words of their own.
type library struct{ rand *rand.Rand }

func newLibrary(seed uint64) library { return library{rand.New(rand.NewPCG(seed, 1))} }

func (l library) word(topic int) string {
	if l.rand.IntN(3) == 0 {
		return fmt.Sprintf("t%dw%d", topic, int(math.Pow(120, l.rand.Float64())))
	}
	return "w" + strconv.Itoa(int(math.Pow(20000, l.rand.Float64())))
}

func (l library) text(topic, words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = l.word(topic)
	}
	return strings.Join(list, " ") + "."
}

const (
	libraryTopics = 500
	libraryPieces = 100 // chunks of a source
)

// stock fills the workspace with sources of 100 chunks, past ingestion.
func (f *fixture) stock(l library, chunks int) []knowledge.SourceID {
	f.t.Helper()
	return f.stockOf(l, chunks, libraryPieces)
}

// stockOf is stock with sources of so many chunks.
func (f *fixture) stockOf(l library, chunks, pieces int) []knowledge.SourceID {
	f.t.Helper()
	embedder := hashing.New()
	model := embedder.Model().Name
	var ids []knowledge.SourceID
	for len(ids)*pieces < chunks {
		id := knowledge.SourceID(idgen.New(idgen.Source))
		ids = append(ids, id)
		texts := make([]string, pieces)
		for i := range texts {
			texts[i] = l.text(l.rand.IntN(libraryTopics), 60)
		}
		vectors, err := embedder.Embed(f.t.Context(), texts, embedding.Document)
		if err != nil {
			f.t.Fatal(err)
		}
		f.exec(`INSERT INTO sources (id, tenant_id, workspace_id, name, kind, media_type, size_bytes, sha256, blob_key, status, due_at,
			chunk_count, embedding_model, created_at, updated_at, ready_at)
			VALUES (?, ?, ?, ?, 'inline', 'text/markdown', 1, ?, ?, 'ready', now(), ?, ?, now(), now(), now())`,
			id, f.ref.TenantID, f.ref.ID, id, id, id, pieces, model)
		var rows strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\t%d\t%s\t150\t\t0\t0\t0\t0\t%s\t[", idgen.New(idgen.Chunk),
				f.ref.TenantID, f.ref.ID, id, i, text, model)
			for j, x := range vectors[i] {
				if j > 0 {
					rows.WriteByte(',')
				}
				rows.WriteString(strconv.FormatFloat(float64(x), 'g', 6, 32))
			}
			rows.WriteString("]\n")
		}
		f.copyIn("COPY chunks (id, tenant_id, workspace_id, source_id, index, content, token_count, heading, page_start, page_end, "+
			"char_start, char_end, model, embedding) FROM STDIN", rows.String())
	}
	f.exec("ANALYZE sources, chunks")
	return ids
}

func (f *fixture) exec(query string, args ...any) {
	f.t.Helper()
	if _, err := f.db.ExecContext(f.t.Context(), query, args...); err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
}

func (f *fixture) copyIn(statement, rows string) {
	f.t.Helper()
	conn, err := f.db.Pool.Acquire(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Conn().PgConn().CopyFrom(f.t.Context(), strings.NewReader(rows), statement); err != nil {
		f.t.Fatal(err)
	}
}

// attachMany attaches without asking for each hundred.
func (f *fixture) attachMany(ids []knowledge.SourceID) agents.ID {
	f.t.Helper()
	agent := f.agent(f.ref)
	for batch := range slices.Chunk(ids, 100) {
		f.attach(f.ref, agent, knowledge.UsageAuto, batch...)
	}
	return agent
}

// stocked is an embedder that answers at once with what it was told, so that only the search is
// measured.
type stocked struct {
	*hashing.Embedder
	vectors map[string][]float32
}

func (s *stocked) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if vector, ok := s.vectors[texts[0]]; ok {
		return [][]float32{vector}, nil
	}
	return s.Embedder.Embed(ctx, texts, kind)
}

// BenchmarkQuery asks agents that see all, a tenth and a hundredth of the workspace's chunks.
func BenchmarkQuery(b *testing.B) {
	for _, chunks := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint("chunks=", chunks), func(b *testing.B) { benchmarkQuery(b, chunks) })
	}
}

func benchmarkQuery(b *testing.B, chunks int) {
	embedder := &stocked{Embedder: hashing.New(), vectors: map[string][]float32{}}
	f := setUp(b, "large", embedder)
	l := newLibrary(uint64(chunks))
	ids := f.stock(l, chunks)
	begun := time.Now()
	if err := f.Maintain(b.Context(), f.clock.now()); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d chunks tended in %v", chunks, time.Since(begun))
	questions := make([]string, 200)
	for i := range questions {
		questions[i] = l.text(l.rand.IntN(libraryTopics), 8)
		vectors, err := embedder.Embedder.Embed(b.Context(), questions[i:i+1], embedding.Query)
		if err != nil {
			b.Fatal(err)
		}
		embedder.vectors[questions[i]] = vectors[0]
	}
	for _, percent := range []int{100, 10, 1} {
		agent := f.attachMany(ids[:max(1, len(ids)*percent/100)])
		f.exec("ANALYZE source_attachments")
		for _, ranking := range []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid} {
			b.Run(fmt.Sprintf("seen=%d%%/%s", percent, ranking), func(b *testing.B) {
				var took []time.Duration
				i := 0
				for b.Loop() {
					begun := time.Now()
					f.ask(agent, knowledge.QueryParams{Question: questions[i%len(questions)], Ranking: ranking, TopK: 10})
					took = append(took, time.Since(begun))
					i++
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
				b.ReportMetric(f.recall(agent, questions[:40]), "recall@10")
			})
		}
	}
}

// recall is how many of the ten exactly nearest chunks a query by similarity finds.
func (f *fixture) recall(agent agents.ID, questions []string) float64 {
	f.t.Helper()
	found, wanted := 0, 0
	for _, question := range questions {
		answer := f.ask(agent, knowledge.QueryParams{Question: question, TopK: 10})
		var exact []knowledge.ChunkID
		vectors, err := hashing.New().Embed(f.t.Context(), []string{question}, embedding.Query)
		if err != nil {
			f.t.Fatal(err)
		}
		err = f.db.NewRaw(`
			SELECT c.id
			FROM chunks AS c
			JOIN source_attachments AS a ON a.source_id = c.source_id
			WHERE a.agent_id = ?
			ORDER BY (c.embedding <=> ?::vector) + 0
			LIMIT 10`, agent, pgvector.NewVector(vectors[0]).String()).Scan(f.t.Context(), &exact)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, one := range answer {
			if slices.Contains(exact, one.ID) {
				found++
			}
		}
		wanted += len(exact)
	}
	return float64(found) / float64(wanted)
}
