package main

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/test/figures"
)

const (
	// hookCalls is how many requests the bare client has under way: what a worker allows one
	// endpoint.
	hookCalls = 32
	// publishers append events side by side, one in a transaction, as requests do.
	publishers = 16
	// hookEvents are delivered in a round.
	hookEvents = 4000
	// hookPatience is for the slowest machine.
	hookPatience = 2 * time.Minute
	// steadyRate is the rate of events for the latency figures, steadyFor its duration.
	steadyRate = 100
	steadyFor  = 10 * time.Second
	// hangs is how long the hanging endpoint keeps each request: as long as a delivery may take.
	hangs = 15 * time.Second
)

// The targets. Source: issue 21; hookCPU of issue 7.
const (
	hookRatio = 0.15
	hookCPU   = 0.8
	calmP50   = 40
	calmP99   = 150
)

// deliveries measures events from their commits to their receivers. In each round the same number
// of the same bodies is posted by a bare client, delivered from a backlog, and delivered while it
// is published.
func deliveries(ctx context.Context, w *world) ([]figures.Row, error) {
	s, err := w.openStation(ctx, "throughput", 1)
	if err != nil {
		return nil, err
	}
	defer s.close(ctx)
	var bare, drained, live, published, p50, p99, cpu []float64
	var cost hookUsage
	for n := range rounds + 1 {
		if n == 1 {
			defer s.profile(ctx)()
		}
		floor, err := s.bare(ctx, hookEvents)
		if err != nil {
			return nil, err
		}
		backlog, spent, publishing, err := s.drain(ctx, hookEvents)
		if err != nil {
			return nil, err
		}
		whole, err := s.flow(ctx, hookEvents)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue // to warm up
		}
		bare, drained, live = append(bare, floor), append(drained, backlog), append(live, whole.perSecond)
		published = append(published, publishing)
		p50, p99 = append(p50, millis(percentile(whole.latencies, 50))), append(p99, millis(percentile(whole.latencies, 99)))
		cpu, cost = append(cpu, millis(spent.all())/hookEvents), cost.plus(spent)
	}
	peak, err := w.worker.PeakMiB()
	if err != nil {
		return nil, err
	}
	floor := figures.Median(bare)
	how := fmt.Sprintf("beside a bare client that signs and posts the same bodies, %d at once; median of %d rounds of %d",
		hookCalls, rounds, hookEvents)
	return []figures.Row{
		figures.Row{
			Name: "Deliveries a second, from a backlog", Value: figures.Round(figures.Median(drained)), Unit: "1/s", Better: "higher",
			Note: "one endpoint; from the commit of the last event on; " + how,
		}.Against(floor).To(hookRatio),
		figures.Row{
			Name: "Deliveries a second, while publishing", Value: figures.Round(figures.Median(live)), Unit: "1/s", Better: "higher",
			Note: fmt.Sprintf("the same, but the events are appended meanwhile by %d publishers, one in a transaction, which share "+
				"the cores (alone they append %.0f a second); from commit to receipt p50 %.0f ms, p99 %.0f ms", publishers,
				figures.Median(published), figures.Median(p50), figures.Median(p99)),
		}.Against(floor),
		figures.Row{
			Name: "Delivery: CPU", Value: figures.Round(figures.Median(cpu)), Unit: "ms", Better: "lower",
			Note: "user and system time of the worker, Postgres and Redis, from a backlog: " + cost.per(hookEvents*float64(len(cpu))),
		}.To(hookCPU),
		{
			Name: "Worker: peak memory", Value: figures.Round(peak), Unit: "MiB", Better: "lower",
			Note: fmt.Sprintf("resident, after %d deliveries", 2*(rounds+1)*hookEvents),
		},
	}, nil
}

// calm measures the latency of events that come at a steady rate.
func calm(ctx context.Context, w *world) ([]figures.Row, error) {
	s, err := w.openStation(ctx, "calm", 1)
	if err != nil {
		return nil, err
	}
	defer s.close(ctx)
	var p50, p99 []float64
	var cost hookUsage
	for n := range 4 {
		before, err := s.usage()
		if err != nil {
			return nil, err
		}
		latencies, err := s.paced(ctx, steadyRate, steadyFor)
		if err != nil {
			return nil, err
		}
		after, err := s.usage()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue // to warm up
		}
		cost = cost.plus(after.minus(before))
		p50, p99 = append(p50, millis(percentile(latencies, 50))), append(p99, millis(percentile(latencies, 99)))
	}
	how := fmt.Sprintf("to one endpoint; median of %d runs of %s", len(p50), steadyFor)
	return []figures.Row{
		figures.Row{
			Name:  fmt.Sprintf("From commit to receipt at %d events a second, p50", steadyRate),
			Value: figures.Round(figures.Median(p50)), Unit: "ms", Better: "lower", Note: how,
		}.To(calmP50),
		figures.Row{
			Name:  fmt.Sprintf("From commit to receipt at %d events a second, p99", steadyRate),
			Value: figures.Round(figures.Median(p99)), Unit: "ms", Better: "lower",
			Note: how + "; CPU, user and system, with publishing: " + cost.per(float64(len(p50))*steadyRate*steadyFor.Seconds()),
		}.To(calmP99),
	}, nil
}

// growth delivers the same number of deliveries to 1, 10 and 1,000 endpoints.
func growth(ctx context.Context, w *world) ([]figures.Row, error) {
	var rows []figures.Row
	for _, endpoints := range []int{1, 10, 1000} {
		s, err := w.openStation(ctx, fmt.Sprintf("growth%d", endpoints), endpoints)
		if err != nil {
			return nil, err
		}
		var rate, cpu []float64
		for n := range 4 {
			perSecond, spent, _, err := s.drain(ctx, hookEvents/endpoints)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				rate, cpu = append(rate, perSecond), append(cpu, millis(spent.all())/hookEvents)
			}
		}
		s.close(ctx)
		rows = append(rows, figures.Row{
			Name:  fmt.Sprintf("Deliveries a second, endpoints of the event: %d", endpoints),
			Value: figures.Round(figures.Median(rate)), Unit: "1/s", Better: "higher",
			Note: fmt.Sprintf("%d events from a backlog, each to all of them, on one host; CPU a delivery %.2f ms",
				hookEvents/endpoints, figures.Median(cpu)),
		})
	}
	return rows, nil
}

// hanging measures what nine endpoints notice of a tenth that keeps every request.
func hanging(ctx context.Context, w *world) ([]figures.Row, error) {
	const rate, lasts = 20, 20 * time.Second
	s, err := w.openStation(ctx, "hanging", 10)
	if err != nil {
		return nil, err
	}
	defer s.close(ctx)
	if _, err := s.paced(ctx, rate, time.Second); err != nil { // to warm up
		return nil, err
	}
	well, err := s.paced(ctx, rate, lasts)
	if err != nil {
		return nil, err
	}
	s.hang.Store(true)
	beside, err := s.paced(ctx, rate, lasts)
	if err != nil {
		return nil, err
	}
	return []figures.Row{figures.Row{
		Name: "One of ten endpoints hangs: p99 of the nine", Value: figures.Round(millis(percentile(beside, 99))),
		Unit: "ms", Better: "lower",
		Note: fmt.Sprintf("from commit to receipt at %d events a second, each to all ten, for %s; beside the same nine while "+
			"the tenth is well; it keeps each request %s", rate, lasts, hangs),
	}.Against(millis(percentile(well, 99))).To(2)}, nil
}
