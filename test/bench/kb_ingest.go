package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/test/pdfmake"
)

const (
	pdfFiles  = 24
	pdfPages  = 500
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
		flow := f.Page().Column(60, 60, 470)
		for range pageParas {
			flow.Paragraph(pdfmake.Regular, 10, text.sentence(14)+" "+text.sentence(16)+" "+text.sentence(12))
		}
	}
	return f.Bytes()
}

// ingestFigures measures from the first upload until all are ready, in turns with pdftotext on the
// same files, as many at once as there are cores. Both are compared by the clock and by what they
// take of the cores, which bears a machine that does other things too.
func ingestFigures(ctx context.Context, w *world) ([]figures.Row, error) {
	var files []file
	var bytes float64
	for i := range pdfFiles {
		files = append(files, file{fmt.Sprintf("book-%d.pdf", i), "application/pdf", book(uint64(i),
			pdfPages)})
		bytes += float64(len(files[i].data)) / 1e6
	}
	paths, err := w.write(files)
	if err != nil {
		return nil, err
	}
	const pages = float64(pdfFiles * pdfPages)
	var ours, bare, ourCPU, bareCPU []float64
	var cost usage
	for round := range rounds {
		p, err := w.newPlace(ctx, fmt.Sprint("ingest", round))
		if err != nil {
			return nil, err
		}
		took, spent, err := w.ingest(ctx, p, files)
		if err != nil {
			return nil, err
		}
		programs, err := programsAlone(ctx, paths)
		if err != nil {
			return nil, err
		}
		alone, aloneCPU, err := runBare(ctx, paths, "pdftotext")
		if err != nil {
			return nil, err
		}
		if round == 0 { // the first is to warm up
			continue
		}
		spent.programs = programs
		cost = cost.plus(spent)
		ours, bare = append(ours, took.Seconds()), append(bare, alone.Seconds())
		ourCPU, bareCPU = append(ourCPU, spent.all().Seconds()*1000/pages), append(bareCPU, aloneCPU.Seconds()*1000/pages)
	}
	return []figures.Row{
		figures.Row{
			Name: "Ingestion of text PDFs: time", Value: figures.Round(figures.Median(ours)), Unit: "s", Better: "lower",
			Note: fmt.Sprintf("%d files of %d pages, %.1f MB in all, from the first upload until all can be queried; beside "+
				"pdftotext on the same files, %d at once", pdfFiles, pdfPages, bytes, runtime.NumCPU()),
		}.Against(figures.Median(bare)).To(ingestTarget),
		figures.Row{
			Name: "Ingestion of text PDFs: CPU for 1,000 pages", Value: figures.Round(figures.Median(ourCPU)), Unit: "s", Better: "lower",
			Note: cost.per(pages*float64(len(ours))) + "; beside pdftotext's",
		}.Against(figures.Median(bareCPU)).To(ingestTarget),
		{
			Name: "Ingestion of text PDFs: pages", Value: figures.Round(pages / figures.Median(ours)), Unit: "1/s",
			Better: "higher", Note: fmt.Sprintf("pdftotext alone: %.0f", pages/figures.Median(bare)),
		},
		{
			Name: "Ingestion of text PDFs: bytes", Value: figures.Round(bytes / figures.Median(ours)), Unit: "MB/s",
			Better: "higher", Note: fmt.Sprintf("pdftotext alone: %.2f", bytes/figures.Median(bare)),
		},
	}, nil
}

// ingest uploads the files and waits until all can be queried.
func (w *world) ingest(ctx context.Context, p place, files []file) (time.Duration, usage, error) {
	before, err := w.usage()
	if err != nil {
		return 0, usage{}, err
	}
	began := time.Now()
	ids, err := w.uploadAll(ctx, p, files)
	if err == nil {
		err = w.awaitReady(ctx, ids, ingestPatience)
	}
	if err != nil {
		return 0, usage{}, err
	}
	took := time.Since(began)
	after, err := w.usage()
	return took, after.minus(before), err
}

// write writes the files into the world's directory.
func (w *world) write(files []file) (paths []string, err error) {
	for _, f := range files {
		path := filepath.Join(w.Dir, f.name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			return nil, fmt.Errorf("writing a file: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// programsAlone is what the programs that read the files for us take of the cores. bubblewrap does
// not hand on what they have spent, so they are run without it.
func programsAlone(ctx context.Context, paths []string) (time.Duration, error) {
	_, counting, err := runBare(ctx, paths, "pdfinfo")
	if err != nil {
		return 0, err
	}
	_, reading, err := runBare(ctx, paths, "pdftohtml", "-xml", "-stdout", "-i", "-hidden", "-nodrm", "-enc", "UTF-8")
	return counting + reading, err
}

// runBare has a program of poppler read the files, as many at once as there are cores, and returns
// how long it took in all and what it took of the cores.
func runBare(ctx context.Context, paths []string, program string, args ...string) (took, cpu time.Duration, err error) {
	var spent atomic.Int64
	began := time.Now()
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for _, path := range paths {
		group.Go(func() error {
			words := append(slices.Clone(args), path)
			if program == "pdftotext" { // which writes to a file beside it otherwise
				words = append(words, os.DevNull)
			}
			command := exec.CommandContext(reading, program, words...)
			err := command.Run()
			if command.ProcessState != nil {
				spent.Add(int64(command.ProcessState.UserTime() + command.ProcessState.SystemTime()))
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, fmt.Errorf("running %s: %w", program, err)
	}
	return time.Since(began), time.Duration(spent.Load()), nil
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
		if server[i], err = w.server.PeakMiB(); err != nil {
			return nil, err
		}
		if worker[i], err = w.worker.PeakMiB(); err != nil {
			return nil, err
		}
	}
	note := "most memory at once, in this run so far; the ratio is to that after a file of 1 MB. A PDF of 100 pages with " +
		"text and a picture of noise each; pdftotext's own is not counted"
	return []figures.Row{
		figures.Row{
			Name: "Server's memory: 100 MB uploaded", Value: figures.Round(server[1]), Unit: "MiB",
			Better: "lower", Note: note,
		}.Against(server[0]),
		figures.Row{
			Name: "Worker's memory: 100 MB ingested", Value: figures.Round(worker[1]), Unit: "MiB",
			Better: "lower", Note: note,
		}.Against(worker[0]),
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
		page.Column(60, 60, 470).Paragraph(pdfmake.Regular, 10, text.sentence(14)+" "+text.sentence(16))
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
	if err := w.at(scanner).Do(ctx, "DELETE", "/workspaces/"+scanner.workspace+"/knowledge-base/sources/"+scan, nil, nil); err != nil {
		return nil, err
	}
	return []figures.Row{figures.Row{
		Name: "One page beside another tenant's scan: time", Value: figures.Round(quantile(times, 1)), Unit: "s", Better: "lower",
		Note: fmt.Sprintf("from the upload until it can be queried, the longest of %d, while a scan of %d pages is read by "+
			"OCR", rounds, scanPages),
	}.To(besideTarget)}, nil
}
