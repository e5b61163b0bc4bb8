package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/figures"
)

func main() {
	dir := flag.String("pages", "test/eval/testdata/pages", "directory of PDF files and expectations")
	out := flag.String("out", "docs", "directory of benchmarks.md and benchmarks.json; empty: only print")
	show := flag.String("show", "", "print what is read from the page of this name, and nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := evaluate(ctx, *dir, *out, *show)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// scores of a page, by us and by pdftotext in its two orders.
type scores struct{ ours, plain, layout score }

func evaluate(ctx context.Context, dir, out, show string) (err error) {
	pages, err := load(dir)
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "parlance-pages-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	box, err := sandbox.New(ctx, sandbox.Options{Dir: temporary})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	reader := poppler.New(poppler.Deps{Sandbox: box})
	var all, aside []scores
	for _, p := range pages {
		if show != "" && p.name != show {
			continue
		}
		text, err := textOf(ctx, reader, p.file)
		if err != nil {
			return err
		}
		if show != "" {
			fmt.Print(text)
			continue
		}
		one, err := scoresOf(ctx, p, text)
		if err != nil {
			return err
		}
		if all = append(all, one); p.aside {
			aside = append(aside, one)
		}
		fmt.Printf("%-18s %s\n", p.name, one)
	}
	if show != "" {
		return nil
	}
	rows := append(rowsOf(fmt.Sprintf("%d files", len(all)), all), rowsOf(fmt.Sprintf("the %d files kept aside", len(aside)), aside)...)
	for _, row := range rows {
		fmt.Println(row)
	}
	if out == "" {
		return nil
	}
	return figures.Write(out, figures.PartPages, rows)
}

func scoresOf(ctx context.Context, p page, text string) (scores, error) {
	plain, err := pdftotext(ctx, p.file)
	if err != nil {
		return scores{}, err
	}
	layout, err := pdftotext(ctx, p.file, "-layout")
	if err != nil {
		return scores{}, err
	}
	return scores{ours: compare(p.expected, text), plain: compare(p.expected, plain), layout: compare(p.expected, layout)}, nil
}

// String is the line of a page: the pairs, and the words where some are missing.
func (s scores) String() string {
	return fmt.Sprintf("pairs %.3f, pdftotext %.3f, -layout %.3f; words %.3f, %.3f, %.3f",
		s.ours.Pairs, s.plain.Pairs, s.layout.Pairs, s.ours.Words, s.plain.Words, s.layout.Words)
}

// rowsOf are the means of some pages as figures; the peer is pdftotext.
func rowsOf(name string, all []scores) []figures.Row {
	var ours, plain, layout []score
	for _, s := range all {
		ours, plain, layout = append(ours, s.ours), append(plain, s.plain), append(layout, s.layout)
	}
	us, them, laid := mean(ours), mean(plain), mean(layout)
	return []figures.Row{
		figures.Row{
			Name: "pairs of neighbouring words, " + name, Value: figures.Round(us.Pairs), Better: "higher",
			Note: fmt.Sprintf("pdftotext %.3f, pdftotext -layout %.3f", them.Pairs, laid.Pairs),
		}.Against(them.Pairs),
		figures.Row{
			Name: "words, " + name, Value: figures.Round(us.Words), Better: "higher",
			Note: fmt.Sprintf("pdftotext %.3f, pdftotext -layout %.3f", them.Words, laid.Words),
		}.Against(them.Words),
	}
}
