package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"parlance.dev/parlance/memory"
)

// BenchmarkSearch searches the 10,000 memories of a user, as search_memory does in a turn: the wall
// time and the CPU time of this process; what Postgres does stands in the plan that it logs.
func BenchmarkSearch(b *testing.B) {
	f := newFixture(b)
	service := f.node(memory.Deps{MaxPerUser: 20_000})
	random := rand.New(rand.NewPCG(1, 2))
	nouns := []string{
		"lamp", "order", "invoice", "garden", "kitchen", "train", "hotel", "doctor", "school", "piano", "bicycle", "coffee", "parcel", "ticket",
		"window",
	}
	for i := range 10_000 {
		text := fmt.Sprintf(
			"On day %d the %s and the %s with code %d were mentioned together with the %s.", i, nouns[random.IntN(len(nouns))],
			nouns[random.IntN(len(nouns))], random.IntN(100_000), nouns[random.IntN(len(nouns))],
		)
		if _, err := service.Add(b.Context(), f.ref, memory.AddParams{UserID: "u", Text: text}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := f.db.ExecContext(b.Context(), "VACUUM ANALYZE memory_vectors, memories"); err != nil {
		b.Fatal(err)
	}
	var walls []time.Duration
	cpu := cpuTime()
	b.ResetTimer()
	for b.Loop() {
		begun := time.Now()
		found, err := service.Search(b.Context(), f.ref, "u", "which train with code 4711 and the piano", 5)
		if err != nil || len(found) != 5 {
			b.Fatalf("%v, %v", found, err)
		}
		walls = append(walls, time.Since(begun))
	}
	b.StopTimer()
	slices.Sort(walls)
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(len(walls)), "cpu-µs/op")
	b.ReportMetric(float64(walls[len(walls)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(walls[len(walls)*95/100].Microseconds()), "p95-µs")
}

// cpuTime is what this process has used, user and system.
func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
