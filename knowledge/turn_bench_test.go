package knowledge_test

import (
	"context"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/embedding/hashing"
)

// counter counts statements.
type counter struct{ statements atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.statements.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// ownCPU is what this process has spent, user and system.
func ownCPU(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkTurn finds the passages of a turn as a conversation does, over 10,000 chunks in ten
// sources: hybrid ranking, the built-in embedder, the settings as shipped. cpu-µs is this process's
// alone.
func BenchmarkTurn(b *testing.B) {
	f := setUp(b, "large", nil)
	statements := &counter{}
	db, err := postgres.Open(b.Context(), postgres.Config{URL: f.db.Pool.Config().ConnString(), Tracer: statements})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	l := newLibrary(10_000)
	ids := f.stockOf(l, 10_000, 1000)
	if err := f.Maintain(b.Context(), f.clock.now()); err != nil {
		b.Fatal(err)
	}
	agent := f.attachMany(ids)
	f.exec("ANALYZE")
	questions := make([]string, 200)
	for i := range questions {
		questions[i] = l.text(l.rand.IntN(libraryTopics), 8)
	}
	f.db = db // whose statements no wall reads
	service := f.with(hashing.New())
	ask := func(question string) {
		passages, _, err := service.Search(f.ref, agent, nil).
			Retrieve(b.Context(), question, knowledge.RetrieveParams{Ranking: knowledge.RankHybrid})
		if err != nil || len(passages) == 0 {
			b.Fatal(len(passages), err)
		}
	}
	for _, question := range questions {
		ask(question)
	}
	var took []time.Duration
	b.ReportAllocs()
	statements.statements.Store(0)
	before, i := ownCPU(b), 0
	for b.Loop() {
		begun := time.Now()
		ask(questions[i%len(questions)])
		took = append(took, time.Since(begun))
		i++
	}
	spent := ownCPU(b) - before
	slices.Sort(took)
	b.ReportMetric(float64(spent.Microseconds())/float64(len(took)), "cpu-µs/op")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(statements.statements.Load())/float64(len(took)), "statements/op")
}
