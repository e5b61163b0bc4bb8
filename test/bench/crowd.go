package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
)

const (
	// crowdPeriod is the time between the turns of one that converses.
	crowdPeriod = 10 * time.Second
	// turnCPU is what a turn may cost the server in ms, socketMemory what a session may have in
	// KiB.
	turnCPU      = 2
	socketMemory = 100
	// settling is how long is waited before memory is looked at.
	settling = 3 * time.Second
)

// leisurely is a model as people know them.
var leisurely = pace{first: 200 * time.Millisecond, between: 5 * time.Millisecond}

// crowd opens many chat sessions on a fresh server, of which some converse.
func crowd(ctx context.Context, w *world) (rows []figures.Row, err error) {
	p, err := w.meet(ctx)
	if err != nil {
		return nil, err
	}
	w.paced.set(leisurely)
	bare, err := w.relayed(ctx)
	if err != nil {
		return nil, err
	}
	// A server of its own: what earlier figures left in memory is not these sessions'.
	w, err = w.withServer(ctx, w.Stack.DatabaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.server.Stop()) }()
	warm, err := w.openChats(ctx, p, callers)
	if err != nil {
		return nil, err
	}
	if _, err := w.converse(ctx, warm, 0, 5*time.Second); err != nil {
		return nil, err
	}
	if err := w.part(ctx, p, warm); err != nil {
		return nil, err
	}
	closeAll(warm)
	empty, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	chats, err := w.openChats(ctx, p, w.sockets)
	if err != nil {
		return nil, err
	}
	defer closeAll(chats)
	still, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	speakers := chats[:w.speakers]
	if _, err := w.converse(ctx, speakers, crowdPeriod, crowdPeriod); err != nil { // to warm up
		return nil, err
	}
	if err := w.profile(ctx, "allocs-before", "/allocs"); err != nil { // what is allocated by turns is what comes after it
		return nil, err
	}
	before, err := w.usageOfTwo()
	if err != nil {
		return nil, err
	}
	var t tally
	group, measuring := errgroup.WithContext(ctx)
	group.Go(func() (err error) { t, err = w.converse(measuring, speakers, crowdPeriod, w.talk); return err })
	group.Go(func() error {
		return w.profile(measuring, "cpu", "/profile?seconds="+strconv.Itoa(max(1, int(w.talk.Seconds()/2))))
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	after, err := w.usageOfTwo()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"heap", "allocs", "goroutine"} {
		if err := w.profile(ctx, name, "/"+name); err != nil {
			return nil, err
		}
	}
	talked, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	dropped := 0
	for _, c := range chats {
		select {
		case <-c.ended:
			dropped++
		default:
		}
	}
	spent, turns := after.minus(before), float64(len(t.whole))
	when := fmt.Sprintf("%d sockets, %d of which converse", w.sockets, w.speakers)
	rows = []figures.Row{
		figures.Row{
			Name: when + ": CPU of the server a turn", Value: figures.Round(millis(spent.server) / turns), Unit: "ms", Better: "lower",
			Note: fmt.Sprintf("user and system time over %.0f s and %.0f turns, %.0f a second, %d pieces each, %d chunks attached; "+
				"Postgres spent %.2f ms a turn", t.took.Seconds(), turns, t.perSecond(), deltas, attached, millis(spent.postgres)/turns),
		}.To(turnCPU),
		figures.Row{
			Name:  when + ": CPU of the server a turn against a bare relay",
			Value: figures.Round(millis(spent.server) / turns), Unit: "ms", Better: "lower",
			Note: fmt.Sprintf("the relay is plain Go between as many sockets that converse and the same model, without sessions, "+
				"retrieval, journal or database; over %.0f s of the same run", relayTalk.Seconds()),
		}.Against(bare),
		figures.Row{
			Name:  when + ": memory of the server a session",
			Value: figures.Round(talked.per(empty, w.sockets).resident), Unit: "KiB", Better: "lower",
			Note: fmt.Sprintf("growth of its resident memory; before anybody spoke %.1f KiB; %s",
				still.per(empty, w.sockets).resident, talked.per(empty, w.sockets)),
		}.To(socketMemory),
		figures.Row{
			Name: when + ": sessions dropped", Value: float64(dropped), Better: "lower",
			Note: "sockets that ended on the way",
		}.To(0),
	}
	return append(rows, overheadRows(when, t, fmt.Sprintf("the model takes %s to its first piece and %s to each other",
		leisurely.first, leisurely.between))...), nil
}

// usageOfTwo is what the server and Postgres have spent so far.
func (w *world) usageOfTwo() (u usage, err error) {
	if u.server, err = ownCPU(w.server); err != nil {
		return u, err
	}
	u.postgres, err = w.PostgresCPU()
	return u, err
}

// footprint is the server's memory in KiB: what the system counts, and what Go says of it.
type footprint struct{ resident, heap, stacks, goroutines float64 }

// per is the growth since before for each of so many.
func (f footprint) per(before footprint, count int) footprint {
	n := float64(count)
	return footprint{
		(f.resident - before.resident) / n, (f.heap - before.heap) / n, (f.stacks - before.stacks) / n,
		(f.goroutines - before.goroutines) / n,
	}
}

func (f footprint) String() string {
	return fmt.Sprintf("after a collection %.1f KiB of heap in use and %.1f of stacks, %.1f goroutines", f.heap, f.stacks, f.goroutines)
}

// memory is the footprint now, the resident part as it is without being asked to collect.
func (w *world) memory(ctx context.Context) (f footprint, err error) {
	time.Sleep(settling)
	resident, err := w.server.ResidentMiB()
	if err != nil {
		return f, err
	}
	err = w.Gauges(ctx, w.debug, map[string]*float64{
		"go_memstats_heap_inuse_bytes":  &f.heap,
		"go_memstats_stack_inuse_bytes": &f.stacks, "go_goroutines": &f.goroutines,
	})
	f.resident, f.heap, f.stacks = resident*1024, f.heap/1024, f.stacks/1024
	return f, err
}

// profile writes one of the newest server's profiles, when a directory for profiles is set.
func (w *world) profile(ctx context.Context, name, path string) error {
	return w.Profile(ctx, w.profiles, name, w.debug+path)
}
