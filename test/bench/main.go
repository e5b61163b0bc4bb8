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
	"syscall"
	"time"

	"parlance.dev/parlance/test/bench/rig"
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
	{"memory", remembering},
	{"usage", months},
}

// knowledgeParts are measured with -kb.
var knowledgeParts = []part{
	{"kb-ingest", ingestFigures},
	{"kb-query", queries},
	{"kb-busy", whileIngesting},
	{"kb-memory", memory},
	{"kb-fair", besideScan},
}

// toolParts are measured with -tools.
var toolParts = []part{
	{"tools", toolCalls},
}

// hookParts are measured with -webhooks.
var hookParts = []part{
	{"deliveries", deliveries},
	{"calm", calm},
	{"growth", growth},
	{"hanging", hanging},
}

// sessionParts are measured with -sessions.
var sessionParts = []part{
	{"create", sessions},
	{"overhead", overheads},
	{"statements", turnStatements},
	{"crowd", crowd},
}

// options are the flags.
type options struct {
	only, out           string
	round               time.Duration
	kb, tools, sessions bool
	webhooks            bool
	chunks              int
	sockets, speakers   int
	talk                time.Duration
	profiles, program   string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		exit(runFloor(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 4 && os.Args[1] == relayCommand {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		exit(runRelay(ctx, os.Args[2], os.Args[3]))
	}
	var o options
	flag.StringVar(&o.only, "only", "",
		"measure these parts alone, with commas between them, and only print them, unless -out is given: sessions, facade, "+
			"turn, memory, usage; with -sessions: create, overhead, statements, crowd; with -webhooks: deliveries, calm, growth, hanging; "+
			"with -kb: kb-ingest, kb-query, kb-busy, kb-memory, kb-fair")
	flag.StringVar(&o.out, "out", "", "directory to write benchmarks.md and benchmarks.json to; default: docs, and with -only none")
	flag.DurationVar(&o.round, "round", 3*time.Second, "length of one round; there are five for each figure")
	flag.BoolVar(&o.kb, "kb", false, "measure the knowledge base, about six minutes, in place of the rest")
	flag.BoolVar(&o.tools, "tools", false, "measure calls of tools, about half a minute, in place of the rest")
	flag.BoolVar(&o.sessions, "sessions", false, "measure sessions and their sockets, about six minutes, in place of the rest")
	flag.BoolVar(&o.webhooks, "webhooks", false, "measure the delivery of events, about three minutes, in place of the rest")
	flag.IntVar(&o.sockets, "sockets", 5000, "with -sessions: how many chat sockets are open at once")
	flag.IntVar(&o.speakers, "speakers", 1500, "with -sessions: how many of them converse, at one turn in 10 s")
	flag.DurationVar(&o.talk, "talk", time.Minute, "with -sessions: how long they converse")
	flag.StringVar(&o.profiles, "profiles", "", "with -sessions or -webhooks: directory to write the server's or the worker's profiles to")
	flag.StringVar(&o.program, "program", "", "measure this parlance, to compare it with another; default: the one of this tree")
	flag.IntVar(&o.chunks, "chunks", 100_000, "with -kb: how many chunks the large workspace has, in thousands")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Measures the service; about four minutes. It needs two idle cores to mean anything.")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, o options) (err error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	var rows []figures.Row
	list, name := parts, figures.PartService
	switch {
	case o.kb:
		list, name = knowledgeParts, figures.PartKnowledge
	case o.sessions:
		list, name = sessionParts, figures.PartSessions
	case o.webhooks:
		list, name = hookParts, figures.PartWebhooks
	case o.tools:
		list, name = toolParts, figures.PartTools
	}
	for _, p := range list {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), p.name) {
			continue
		}
		if w.db != nil {
			if err := w.fillLog(ctx); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", p.name)
		before := rig.ReadMachineTime()
		measured, err := p.measure(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		measured = append(measured, stealRow(before, rig.ReadMachineTime(), p.name))
		for _, row := range measured {
			fmt.Println(row)
		}
		rows = append(rows, measured...)
	}
	if len(rows) == 0 {
		return fmt.Errorf("there is no part %q", o.only)
	}
	switch {
	case o.only == "":
		return figures.Write(cmp.Or(o.out, "docs"), name, rows)
	case o.out != "":
		return figures.Update(o.out, name, rows)
	}
	return nil
}
