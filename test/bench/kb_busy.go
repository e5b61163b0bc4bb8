package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
)

const (
	// busyFiles are ingested while a session's knowledge is asked.
	busyFiles = 20
	busyPages = 100
	// askEvery is the pace of the asking.
	askEvery = 20 * time.Millisecond
)

// whileIngesting asks a workspace's knowledge at a pace, first idle and then while twenty files are
// ingested.
func whileIngesting(ctx context.Context, w *world) ([]figures.Row, error) {
	p, err := w.newPlace(ctx, "busy")
	if err != nil {
		return nil, err
	}
	ids, err := w.uploadAll(ctx, p, []file{{"handbook.md", "text/markdown", newWriter(1).handbook(sectionsAFile)}})
	if err == nil {
		err = w.awaitReady(ctx, ids, ingestPatience)
	}
	if err == nil {
		err = w.attach(ctx, p, p.agent, ids)
	}
	if err != nil {
		return nil, err
	}
	_, questions, err := questionsToAsk(ctx)
	if err != nil {
		return nil, err
	}
	idle, err := w.askUntil(ctx, p, questions, time.Now().Add(w.round*2), nil)
	if err != nil {
		return nil, err
	}
	var files []file
	for i := range busyFiles {
		files = append(files, file{fmt.Sprintf("book-%d.pdf", i), "application/pdf", book(uint64(100+i),
			busyPages)})
	}
	done := make(chan struct{})
	var busy []float64
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(done)
		uploaded, err := w.uploadAll(working, p, files)
		if err != nil {
			return err
		}
		return w.awaitReady(working, uploaded, ingestPatience)
	})
	group.Go(func() (err error) {
		busy, err = w.askUntil(working, p, questions, time.Now().Add(ingestPatience), done)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return []figures.Row{figures.Row{
		Name: "Query while 20 files are ingested: p99", Value: figures.Round(quantile(busy, 0.99)), Unit: "ms", Better: "lower",
		Note: fmt.Sprintf("%d queries by hybrid ranking, as a session asks, 50 a second at most, over %d chunks; p50 %.3g ms; "+
			"the ratio is to the p99 without ingestion", len(busy), sectionsAFile, quantile(busy, 0.5)),
	}.Against(quantile(idle, 0.99))}, nil
}

// askUntil asks at a pace until a time, or until done; times in ms.
func (w *world) askUntil(ctx context.Context, p place, questions []question, until time.Time, done <-chan struct{}) ([]float64, error) {
	var times []float64
	pace := time.NewTicker(askEvery)
	defer pace.Stop()
	for i := 0; time.Now().Before(until); i++ {
		began := time.Now()
		if _, err := w.ask(ctx, p, p.agent, "hybrid", questions[i%len(questions)].text); err != nil {
			return nil, err
		}
		times = append(times, millis(time.Since(began)))
		select {
		case <-pace.C:
		case <-done:
			return times, nil
		case <-ctx.Done():
			return times, ctx.Err()
		}
	}
	return times, nil
}
