package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/test/figures"
)

// part is one group of figures.
type part struct {
	name    string
	measure func(ctx context.Context, w *world) ([]figures.Row, error)
}

var parts = []part{
	{"own", ownTime},
	{"whole", wholeTurn},
	{"interruptions", interruptions},
	{"crowd", crowd},
	{"hour", longCall},
	{"hearing", hearingTable},
}

// options are the flags.
type options struct {
	only, out, profiles, program string
	timeline                     string
	short, hour                  bool
	calls                        int
}

var errOver = errors.New("a figure is over its bound")

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "measure these parts alone, with commas between them, and only print them, unless -out is given: "+
		"own, whole, interruptions, crowd, hour, hearing")
	flag.StringVar(&o.out, "out", "", "directory to write benchmarks.md and benchmarks.json to; default: docs, and with -only or -short none")
	flag.StringVar(&o.profiles, "profiles", "", "directory to write the server's profiles of the crowd to")
	flag.StringVar(&o.program, "program", "", "measure this parlance, to compare it with another; default: the one of this tree")
	flag.BoolVar(&o.short, "short", false, "measure less of everything, in about three minutes")
	flag.BoolVar(&o.hour, "hour", false, "the long call lasts an hour in place of ten minutes")
	flag.IntVar(&o.calls, "calls", 300, "how many calls there are at once in the crowd")
	flag.StringVar(&o.timeline, "timeline", "", "measure nothing: record a spoken turn and an interruption, and draw them in this directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/voice:", err)
		os.Exit(1)
	}
}

// run measures the parts, prints their rows, and writes them.
func run(ctx context.Context, o options) (err error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if o.timeline != "" {
		return timelines(ctx, w, o.timeline)
	}
	var rows []figures.Row
	for _, p := range parts {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), p.name) {
			continue
		}
		measured, err := w.measure(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		rows = append(rows, measured...)
	}
	if len(rows) == 0 {
		return fmt.Errorf("there is no part %q", o.only)
	}
	switch {
	case o.only == "" && (!o.short || o.out != ""):
		err = figures.Write(cmp.Or(o.out, "docs"), figures.PartVoice, rows)
	case o.out != "":
		err = figures.Update(o.out, figures.PartVoice, rows)
	}
	if err == nil && slices.ContainsFunc(rows, func(r figures.Row) bool { return !r.Held() }) {
		err = errOver
	}
	return err
}

// measure measures a part and prints its rows.
func (w *world) measure(ctx context.Context, p part) ([]figures.Row, error) {
	fmt.Fprintf(os.Stderr, "measuring %s …\n", p.name)
	began, before := time.Now(), w.readCPU()
	rows, err := p.measure(ctx, w)
	if err != nil {
		return nil, err
	}
	if p.name != "hearing" {
		rows = append(rows, w.readCPU().minus(before).row(p.name, time.Since(began)))
	}
	for _, row := range rows {
		fmt.Println(line(row))
	}
	return rows, nil
}

// line is a row as a person reads it at a terminal.
func line(r figures.Row) string {
	bound, verdict := "", ""
	if r.Target != nil {
		sign := "≤"
		if r.Better == "higher" {
			sign = "≥"
		}
		bound, verdict = fmt.Sprintf("%s %g %s", sign, *r.Target, r.Unit), "ok"
		if !r.Held() {
			verdict = "OVER"
		}
	}
	return fmt.Sprintf("%-96s %9.6g %-4s %-12s %s", r.Name, r.Value, r.Unit, bound, verdict)
}
