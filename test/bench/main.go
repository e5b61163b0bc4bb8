package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"parlance.dev/parlance/test/figures"
)

// part is one group of figures.
type part struct {
	name    string
	measure func(ctx context.Context, w *world) ([]figures.Row, error)
}

var parts = []part{
	{"sessions", sessions},
	{"facade", facade},
	{"turn", turns},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		exit(runFloor(os.Stdin, os.Stdout))
	}
	var (
		only  = flag.String("only", "", "measure this part alone and only print it: sessions, facade, turn")
		out   = flag.String("out", "docs", "directory to write benchmarks.md and benchmarks.json to")
		round = flag.Duration("round", 3*time.Second, "length of one round; there are five for each figure")
	)
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Measures the service; about three minutes. It needs two idle cores to mean anything.")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, *only, *out, *round))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, only, out string, round time.Duration) (err error) {
	w, err := newWorld(ctx, round)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	var rows []figures.Row
	for _, p := range parts {
		if only != "" && only != p.name {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", p.name)
		measured, err := p.measure(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, row := range measured {
			fmt.Println(row)
		}
		rows = append(rows, measured...)
	}
	if len(rows) == 0 {
		return fmt.Errorf("there is no part %q", only)
	}
	if only != "" {
		return nil
	}
	return figures.Write(out, figures.PartService, rows)
}
