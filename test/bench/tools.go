package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/app"
	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

const (
	// callsARound are made one after the other in a round.
	callsARound = 1000
	// manyCalls are under way at once.
	manyCalls = 200
	// manyEach is how many each of them makes in a round.
	manyEach = 25
)

// shop is the endpoint of the tools under measurement, and what calls it.
type shop struct {
	server *httptest.Server
	client *http.Client
	app    *app.App
	ref    workspaces.Ref
	// plain has nothing to render; full has a secret header and variables in every place; capped is
	// full with max_calls_per_session.
	plain, full, capped tools.Entry
	variables           tools.Variables
}

// toolCalls measures what a call costs beyond a bare request to the same endpoint: finding secrets,
// checking arguments, rendering, the breaker, and a trace that Postgres has taken. With a cap, the
// count is on Postgres's disk before the endpoint is asked.
func toolCalls(ctx context.Context, w *world) ([]figures.Row, error) {
	s, err := w.openShop(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var rows []figures.Row
	for _, kind := range []struct {
		name  string
		entry tools.Entry
	}{{"a plain tool", s.plain}, {"with secrets and variables", s.full}, {"with secrets, variables and a cap", s.capped}} {
		measured, err := s.oneByOne(ctx, kind.name, kind.entry)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	measured, err := s.atOnce(ctx)
	return append(rows, measured...), err
}

// openShop joins the parts in this process, over the world's databases.
func (w *world) openShop(ctx context.Context) (_ *shop, err error) {
	s := &shop{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: manyCalls}}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		_, _ = io.Copy(io.Discard, in.Body)
		out.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(out, `{"order":"A-1007","state":"sent","items":[{"sku":"1","n":2},{"sku":"2","n":1}]}`)
	}))
	environment := map[string]string{}
	for _, pair := range w.Environment(w.Stack.DatabaseURL, "127.0.0.1:0") {
		name, value, _ := strings.Cut(pair, "=")
		environment[name] = value
	}
	config, err := app.Load(app.Source{ReadFile: os.ReadFile, LookupEnv: func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	}})
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	if s.app, err = app.Open(ctx, config, app.Params{Component: "server", Log: slog.New(slog.DiscardHandler)}); err != nil {
		return nil, err
	}
	return s, s.stock(ctx, w)
}

// stock makes the tools and attaches them.
func (s *shop) stock(ctx context.Context, w *world) error {
	plain := map[string]any{
		"slug": "find_order", "description": "Find an order.", "kind": "http", "webhook_url": s.server.URL +
			"/orders/{id}", "path_params": []string{"id"}, "method": "GET",
		"input_schema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"id": map[string]any{"type": "string", "maxLength": 20}}, "required": []string{"id"},
		},
	}
	full := map[string]any{
		"slug": "change_order", "description": "Change an order.", "kind": "http", "webhook_url": s.server.URL +
			"/orders/{id}?shop={{shop}}", "path_params": []string{"id"},
		"input_schema": plain["input_schema"], "auth_header": "Bearer sk-0123456789abcdef", "allow_dynamic_vars": true,
		"headers":               map[string]string{"X-Key": "{{secret__key}}", "X-User": "{{user}}"},
		"hardcoded_body_params": map[string]any{"by": "{{user}}", "deep": map[string]any{"shop": "{{shop}}"}},
	}
	for _, tool := range []map[string]any{plain, full} {
		var made struct {
			ID string `json:"id"`
		}
		if err := w.Post(ctx, "/workspaces/"+w.Workspace+"/tools", tool, &made); err != nil {
			return err
		}
		if err := w.Post(ctx, "/workspaces/"+w.Workspace+"/agents/"+w.Agent+"/tools/attach",
			map[string]any{"tool_id": made.ID}, nil); err != nil {
			return err
		}
	}
	s.variables = tools.NewVariables(map[string]string{"shop": "München", "user": "u-1", "secret__key": "k-0123456789"})
	owner, err := s.app.Workspaces.Authenticate(ctx, w.Key)
	if err != nil {
		return err
	}
	if s.ref, err = s.app.Workspaces.Resolve(ctx, owner, w.Workspace); err != nil {
		return err
	}
	registry, err := s.app.Tools.ListAgentTools(ctx, s.ref, agents.ID(w.Agent))
	if err != nil {
		return err
	}
	s.plain, _ = registry.Find("find_order")
	s.full, _ = registry.Find("change_order")
	s.capped = s.full
	s.capped.MaxCallsPerSession = 10 * callsARound
	return nil
}

func (s *shop) close() {
	if s.server != nil {
		s.server.Close()
	}
	if s.app != nil {
		_ = s.app.Close() // the databases end
	}
}

// bare is the same request without us.
func (s *shop) bare(ctx context.Context) error {
	return call{
		method: http.MethodGet, url: s.server.URL + "/orders/A-1007", header: http.Header{},
		status: http.StatusOK,
	}.send(ctx, s.client)
}

// through is a call as a turn makes it; each session has a count of its own.
func (s *shop) through(ctx context.Context, entry tools.Entry, session string) error {
	outcome := s.app.Tools.Call(ctx, tools.CallParams{
		Ref: s.ref, SessionID: session, TurnID: "turn_bench", Entry: entry,
		Arguments: json.RawMessage(`{"id":"A-1007"}`), Variables: s.variables,
	})
	if outcome.Error != nil {
		return errors.New(outcome.Error.Message)
	}
	return nil
}

// oneByOne compares the two ways in turns.
func (s *shop) oneByOne(ctx context.Context, name string, entry tools.Entry) ([]figures.Row, error) {
	var p50, p99, bare50, bare99, cpu []float64
	for n := range rounds + 1 {
		floor, floorCPU, err := timed(1, callsARound, func(int) error { return s.bare(ctx) })
		if err != nil {
			return nil, err
		}
		spent, spentCPU, err := timed(1, callsARound, func(int) error { return s.through(ctx, entry, fmt.Sprintf("ses_bench_%d", n)) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue // to warm up
		}
		bare50, bare99 = append(bare50, millis(percentile(floor, 50))), append(bare99, millis(percentile(floor, 99)))
		p50, p99 = append(p50, millis(percentile(spent, 50)-percentile(floor, 50))), append(p99,
			millis(percentile(spent, 99)-percentile(floor, 99)))
		cpu = append(cpu, micros(spentCPU-floorCPU)/callsARound)
	}
	how := fmt.Sprintf("a call less a bare request to the same endpoint in the same round, %%.2f ms; with its trace; median "+
		"of %d rounds of %d", rounds, callsARound)
	first := figures.Row{
		Name: "Tool call: time beyond a bare request, p50, " + name, Value: figures.Round(figures.Median(p50)), Unit: "ms", Better: "lower",
		Note: fmt.Sprintf(how, figures.Median(bare50)),
	}.To(1)
	if entry.MaxCallsPerSession > 0 {
		first.Target = nil
		first.Note += "; the count is on Postgres's disk before the endpoint is asked"
	}
	return []figures.Row{
		first,
		{
			Name: "Tool call: time beyond a bare request, p99, " + name, Value: figures.Round(figures.Median(p99)),
			Unit: "ms", Better: "lower",
			Note: fmt.Sprintf(how, figures.Median(bare99)),
		},
		{
			Name: "Tool call: own CPU, " + name, Value: figures.Round(figures.Median(cpu)), Unit: "µs", Better: "lower",
			Note: "user and system time of the process, less that of a bare request; Postgres's is not in it",
		},
	}, nil
}

// atOnce has many calls under way.
func (s *shop) atOnce(ctx context.Context) ([]figures.Row, error) {
	var rate, bareRate, p50, p99 []float64
	for n := range rounds + 1 {
		began := time.Now()
		if _, _, err := timed(manyCalls, manyEach, func(int) error { return s.bare(ctx) }); err != nil {
			return nil, err
		}
		bareTook := time.Since(began)
		began = time.Now()
		spent, _, err := timed(manyCalls, manyEach, func(caller int) error {
			return s.through(ctx, s.plain,
				fmt.Sprintf("ses_many_%d", caller))
		})
		if err != nil {
			return nil, err
		}
		took := time.Since(began)
		if n == 0 {
			continue // to warm up
		}
		rate, bareRate = append(rate, manyCalls*manyEach/took.Seconds()), append(bareRate, manyCalls*manyEach/bareTook.Seconds())
		p50, p99 = append(p50, millis(percentile(spent, 50))), append(p99, millis(percentile(spent, 99)))
	}
	return []figures.Row{
		figures.Row{
			Name: fmt.Sprintf("Tool calls a second, %d at once", manyCalls), Value: figures.Round(figures.Median(rate)),
			Unit: "1/s", Better: "higher",
			Note: "beside bare requests to the same endpoint, which answers at once and shares the cores",
		}.Against(figures.Median(bareRate)),
		{
			Name:  fmt.Sprintf("Tool call: whole time, p50, %d at once", manyCalls),
			Value: figures.Round(figures.Median(p50)), Unit: "ms", Better: "lower",
			Note: fmt.Sprintf("p99 %.0f ms; every call is traced", figures.Median(p99)),
		},
	}, nil
}

// timed does something each times in each of callers goroutines and returns how long each took, in
// order of length, and the CPU this process spent.
func timed(callers, each int, do func(caller int) error) ([]time.Duration, time.Duration, error) {
	before, err := used()
	if err != nil {
		return nil, 0, err
	}
	var (
		mu      sync.Mutex
		all     []time.Duration
		failed  error
		running sync.WaitGroup
	)
	for caller := range callers {
		running.Go(func() {
			took := make([]time.Duration, 0, each)
			var failure error
			for range each {
				began := time.Now()
				if failure = do(caller); failure != nil {
					break
				}
				took = append(took, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, took...), errors.Join(failed, failure)
		})
	}
	running.Wait()
	after, err := used()
	slices.Sort(all)
	return all, after - before, errors.Join(failed, err)
}

// percentile of what timed returned.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
