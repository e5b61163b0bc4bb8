package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/test/pdfmake"
)

const (
	pdfFiles  = 8
	pdfPages  = 250
	pageParas = 9
	// ingestTarget is how often pdftotext's time ingestion may take.
	ingestTarget = 2
	// ingestPatience is for the slowest machine.
	ingestPatience = 10 * time.Minute
)

// book is a PDF file of pages of text.
func book(seed uint64, pages int) []byte {
	text, f := newWriter(seed), pdfmake.New()
	for range pages {
		flow := f.Page().Column(60, 780, 470)
		for range pageParas {
			flow.Paragraph(pdfmake.Regular, 10, text.sentence(14)+" "+text.sentence(16)+" "+text.sentence(12))
		}
	}
	return f.Bytes()
}

// ingestion measures from the first upload until all are ready, in turns with pdftotext on the same
// files, as many at once as there are cores.
func ingestion(ctx context.Context, w *world) ([]figures.Row, error) {
	var files []file
	var bytes float64
	for i := range pdfFiles {
		files = append(files, file{fmt.Sprintf("book-%d.pdf", i), "application/pdf", book(uint64(i), pdfPages)}) //nolint:gosec // counts from 0
		bytes += float64(len(files[i].data)) / 1e6
	}
	var ours, bare []float64
	for round := range rounds {
		p, err := w.newPlace(ctx, fmt.Sprint("ingest", round))
		if err != nil {
			return nil, err
		}
		began := time.Now()
		ids, err := w.uploadAll(ctx, p, files)
		if err == nil {
			err = w.awaitReady(ctx, ids, ingestPatience)
		}
		if err != nil {
			return nil, err
		}
		took := time.Since(began).Seconds()
		alone, err := w.pdftotext(ctx, files)
		if err != nil {
			return nil, err
		}
		if round > 0 { // the first is to warm up
			ours, bare = append(ours, took), append(bare, alone)
		}
	}
	pages := float64(pdfFiles * pdfPages)
	return []figures.Row{
		figures.Row{
			Name: "Ingestion of text PDFs: time", Value: figures.Round(figures.Median(ours)), Unit: "s", Better: "lower",
			Note: fmt.Sprintf("%d files of %d pages, %.1f MB in all, from the first upload until all can be queried; beside pdftotext on the same files, %d at once", pdfFiles, pdfPages, bytes, runtime.NumCPU()),
		}.Against(figures.Median(bare)).To(ingestTarget),
		{Name: "Ingestion of text PDFs: pages", Value: figures.Round(pages / figures.Median(ours)), Unit: "1/s", Better: "higher", Note: fmt.Sprintf("pdftotext alone: %.0f", pages/figures.Median(bare))},
		{Name: "Ingestion of text PDFs: bytes", Value: figures.Round(bytes / figures.Median(ours)), Unit: "MB/s", Better: "higher", Note: fmt.Sprintf("pdftotext alone: %.2f", bytes/figures.Median(bare))},
	}, nil
}

// pdftotext reads the files with the bare parser and returns the seconds.
func (w *world) pdftotext(ctx context.Context, files []file) (float64, error) {
	var paths []string
	for _, f := range files {
		path := filepath.Join(w.dir, f.name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			return 0, fmt.Errorf("writing a file: %w", err)
		}
		paths = append(paths, path)
	}
	began := time.Now()
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for _, path := range paths {
		group.Go(func() error { return exec.CommandContext(reading, "pdftotext", path, os.DevNull).Run() })
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("running pdftotext: %w", err)
	}
	return time.Since(began).Seconds(), nil
}

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
		files = append(files, file{fmt.Sprintf("book-%d.pdf", i), "application/pdf", book(uint64(100+i), busyPages)}) //nolint:gosec // counts from 0
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
		Note: fmt.Sprintf("%d queries by hybrid ranking, as a session asks, 50 a second at most, over %d chunks; p50 %.3g ms; the ratio is to the p99 without ingestion", len(busy), sectionsAFile, quantile(busy, 0.5)),
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

// memory uploads and ingests a file of 1 MB and one of 100 MB, and compares the peaks.
func memory(ctx context.Context, w *world) ([]figures.Row, error) {
	p, err := w.newPlace(ctx, "memory")
	if err != nil {
		return nil, err
	}
	var server, worker [2]float64
	for i, pictures := range []int{1, 100} {
		ids, err := w.uploadAll(ctx, p, []file{{"pictures.pdf", "application/pdf", pictureBook(pictures)}})
		if err == nil {
			err = w.awaitReady(ctx, ids, ingestPatience)
		}
		if err != nil {
			return nil, err
		}
		if server[i], err = w.server.peakMemory(); err != nil {
			return nil, err
		}
		if worker[i], err = w.worker.peakMemory(); err != nil {
			return nil, err
		}
	}
	note := "most memory at once, in this run so far; the ratio is to that after a file of 1 MB. A PDF of 100 pages with text and a picture of noise each; pdftotext's own is not counted"
	return []figures.Row{
		figures.Row{Name: "Server's memory: 100 MB uploaded", Value: figures.Round(server[1]), Unit: "MiB", Better: "lower", Note: note}.Against(server[0]),
		figures.Row{Name: "Worker's memory: 100 MB ingested", Value: figures.Round(worker[1]), Unit: "MiB", Better: "lower", Note: note}.Against(worker[0]),
	}, nil
}

// pictureBook is a PDF of pages with some text and a megabyte of noise each.
func pictureBook(pages int) []byte {
	text, f, random := newWriter(9), pdfmake.New(), rand.NewChaCha8([32]byte{1})
	for range pages {
		noise := make([]byte, 1000*1000)
		_, _ = random.Read(noise) // never fails
		page := f.Page()
		page.Grey(noise, 1000, 1000)
		page.Column(60, 780, 470).Paragraph(pdfmake.Regular, 10, text.sentence(14)+" "+text.sentence(16))
	}
	return f.Bytes()
}

const (
	scanPages = 2000
	// besideTarget is in seconds.
	besideTarget = 10
)

// besideScan has a tenant's long scan in work and measures how soon another tenant's page is ready.
func besideScan(ctx context.Context, w *world) ([]figures.Row, error) {
	scanner, err := w.newPlace(ctx, "scanner")
	if err != nil {
		return nil, err
	}
	other, err := w.newPlace(ctx, "other")
	if err != nil {
		return nil, err
	}
	f := pdfmake.New()
	page := make([]byte, 620*877) // A4 at 75 dots an inch, with bars where lines were
	for i := range page {
		if page[i] = 255; i/620%24 < 8 && i%620 > 60 && i%620 < 560 && i*7919%5 != 0 {
			page[i] = 0
		}
	}
	for range scanPages {
		f.Page().Grey(page, 620, 877)
	}
	scan, err := w.upload(ctx, scanner, file{"scan.pdf", "application/pdf", f.Bytes()})
	if err != nil {
		return nil, err
	}
	err = w.await(ctx, ingestPatience, "the scan to be in OCR", func() (bool, error) {
		var done int
		err := w.db.Pool.QueryRow(ctx, "SELECT pages_done FROM sources WHERE id = $1 AND status = 'processing'", scan).Scan(&done)
		return err == nil && done > 0, nil
	})
	if err != nil {
		return nil, err
	}
	var times []float64
	for range rounds {
		began := time.Now()
		ids, err := w.uploadAll(ctx, other, []file{{"page.pdf", "application/pdf", book(3, 1)}})
		if err == nil {
			err = w.awaitReady(ctx, ids, ingestPatience)
		}
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(began).Seconds())
	}
	if err := w.at(scanner).do(ctx, "DELETE", "/workspaces/"+scanner.workspace+"/knowledge-base/sources/"+scan, nil, nil); err != nil {
		return nil, err
	}
	return []figures.Row{figures.Row{
		Name: "One page beside another tenant's scan: time", Value: figures.Round(quantile(times, 1)), Unit: "s", Better: "lower",
		Note: fmt.Sprintf("from the upload until it can be queried, the longest of %d, while a scan of %d pages is read by OCR", rounds, scanPages),
	}.To(besideTarget)}, nil
}
