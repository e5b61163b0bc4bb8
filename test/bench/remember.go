package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	remembered "parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/embedding/words"
	"parlance.dev/parlance/test/bench/rig"
	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/workspaces"
)

const (
	// memoriesOfOne are those of the user who is searched.
	memoriesOfOne = 10_000
	// searchesARound are made one after the other in a round, firstSearches each by a Service that
	// has cached nothing.
	searchesARound, firstSearches = 200, 20
)

// remembering measures a search of a user's memory, as in a turn, and reading the memories that a
// session starts with: in this process, as the server does it, over the world's Postgres.
func remembering(ctx context.Context, w *world) ([]figures.Row, error) {
	db, err := postgres.Open(ctx, postgres.Config{URL: w.Stack.DatabaseURL})
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // the databases end
	ref := workspaces.Ref{ID: workspaces.ID(w.Workspace)}
	if err := db.NewRaw("SELECT tenant_id FROM workspaces WHERE id = ?", ref.ID).Scan(ctx, &ref.TenantID); err != nil {
		return nil, fmt.Errorf("finding the tenant: %w", err)
	}
	node := func() *remembered.Service {
		return remembered.New(remembered.Deps{DB: db, Embedder: words.New(), MaxPerUser: memoriesOfOne})
	}
	service := node()
	if err := remember(ctx, db, service, ref); err != nil {
		return nil, err
	}
	search := func(s *remembered.Service) error {
		found, err := s.Search(ctx, ref, "u", "which train with code 4711 and the piano", 5)
		if err == nil && len(found) != 5 {
			err = fmt.Errorf("found %d memories", len(found))
		}
		return err
	}
	recall := func(s *remembered.Service) error {
		recalled, err := s.Recall(ctx, ref, "u", 0)
		if err == nil && (len(recalled.Items) == 0 || !recalled.More) {
			err = fmt.Errorf("recalled %d memories", len(recalled.Items))
		}
		return err
	}
	var p50, p95, cpu, server, first, given []float64
	for range rounds {
		before, err := w.selfAndPostgres()
		if err != nil {
			return nil, err
		}
		times, err := each(searchesARound, func() error { return search(service) })
		if err != nil {
			return nil, err
		}
		after, err := w.selfAndPostgres()
		if err != nil {
			return nil, err
		}
		p50, p95 = append(p50, millis(percentile(times, 50))), append(p95, millis(percentile(times, 95)))
		cpu = append(cpu, millis(after.own-before.own)/searchesARound)
		server = append(server, millis(after.postgres-before.postgres)/searchesARound)
		if times, err = each(firstSearches, func() error { return search(node()) }); err != nil {
			return nil, err
		}
		first = append(first, millis(percentile(times, 50)))
		if times, err = each(firstSearches, func() error { return recall(node()) }); err != nil {
			return nil, err
		}
		given = append(given, millis(percentile(times, 50)))
	}
	row := func(name string, values []float64, note string) figures.Row {
		return figures.Row{Name: name, Value: figures.Round(figures.Median(values)), Unit: "ms", Better: "lower", Note: note}
	}
	of := fmt.Sprintf("of a user with %d memories, embedding included; ", memoriesOfOne)
	return []figures.Row{
		row("Search of memory in a turn: p50", p50, of+fmt.Sprintf("median of %d rounds of %d", rounds, searchesARound)).To(5),
		row("Search of memory in a turn: p95", p95, "the same searches").To(5),
		row("Search of memory in a turn: CPU", cpu, fmt.Sprintf("of the server; of Postgres %.2f ms", figures.Median(server))),
		row("Search of memory, a user's first on a server: p50", first,
			of+"by a server that has cached nothing; Postgres compares the codes in either case"),
		row("Memory a session is given at its start: p50", given,
			"the newest memories of the same user, which the server has not cached"),
	}, nil
}

// remember stores the memories, and runs the VACUUM that Postgres would run by itself later.
func remember(ctx context.Context, db *postgres.DB, service *remembered.Service, ref workspaces.Ref) error {
	random := rand.New(rand.NewPCG(1, 2))
	nouns := []string{
		"lamp", "order", "invoice", "garden", "kitchen", "train", "hotel", "doctor", "school", "piano",
		"bicycle", "coffee", "parcel", "ticket", "window",
	}
	noun := func() string { return nouns[random.IntN(len(nouns))] }
	for i := range memoriesOfOne {
		text := fmt.Sprintf("On day %d the %s and the %s with code %d were mentioned together with the %s.", i, noun(),
			noun(), random.IntN(100_000), noun())
		if _, err := service.Add(ctx, ref, remembered.AddParams{UserID: "u", Text: text, Confidence: 1}); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, "VACUUM ANALYZE memory_vectors, memories"); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	return nil
}

// each calls do a number of times and returns the durations, the shortest first.
func each(times int, do func() error) ([]time.Duration, error) {
	all := make([]time.Duration, times)
	for i := range all {
		begun := time.Now()
		if err := do(); err != nil {
			return nil, err
		}
		all[i] = time.Since(begun)
	}
	slices.Sort(all)
	return all, nil
}

// cpuUsed is CPU time of this process and of Postgres.
type cpuUsed struct{ own, postgres time.Duration }

func (w *world) selfAndPostgres() (s cpuUsed, err error) {
	own, err := rig.CPUOf(os.Getpid())
	if err != nil {
		return s, err
	}
	s.own = own.Own
	s.postgres, err = w.PostgresCPU()
	return s, err
}
