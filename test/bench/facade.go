package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"parlance.dev/parlance/test/figures"
)

// pair is one call by both ways.
type pair struct {
	name          string
	rest, connect call
}

// facade compares the REST facade with the protocol below it, by a small read and by a write with a
// body.
func facade(ctx context.Context, w *world) ([]figures.Row, error) {
	get, err := json.Marshal(map[string]string{"workspace_id": w.Workspace, "agent_id": w.Agent})
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	create, err := json.Marshal(map[string]any{
		"agent_id": w.Agent, "user_id": "bench", "modality": "text",
		"dynamic_variables": map[string]string{"name": "Ada", "city": "London"},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	pairs := []pair{
		{
			"GET one agent",
			call{
				method: http.MethodGet, url: w.URL + "/v1/workspaces/" + w.Workspace + "/agents/" + w.Agent,
				header: w.Header(), status: http.StatusOK,
			},
			call{
				method: http.MethodPost, url: w.URL + "/parlance.v1.AgentService/GetAgent", header: w.Header(),
				body: get, status: http.StatusOK,
			},
		},
		{
			"POST /sessions",
			call{method: http.MethodPost, url: w.URL + "/v1/sessions", header: w.Header(), body: create, status: http.StatusCreated},
			call{
				method: http.MethodPost, url: w.URL + "/parlance.v1.SessionService/CreateSession", header: w.Header(),
				body: create, status: http.StatusOK,
			},
		},
	}
	var rows []figures.Row
	for _, p := range pairs {
		measured, err := p.measure(ctx, w)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

func (p pair) measure(ctx context.Context, w *world) ([]figures.Row, error) {
	var restCPU, connectCPU, added, restRate, connectRate []float64
	for n := range rounds + 1 {
		rest, err := underLoad(ctx, w.server, w.HTTP, p.rest, w.round)
		if err != nil {
			return nil, err
		}
		connect, err := underLoad(ctx, w.server, w.HTTP, p.connect, w.round)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue // to warm up
		}
		restCPU, connectCPU = append(restCPU, micros(rest.cpu)), append(connectCPU, micros(connect.cpu))
		added = append(added, micros(rest.cpu-connect.cpu))
		restRate, connectRate = append(restRate, rest.perSecond), append(connectRate, connect.perSecond)
	}
	return []figures.Row{
		figures.Row{
			Name: "REST: CPU added to Connect JSON, " + p.name, Value: figures.Round(figures.Median(added)), Unit: "µs", Better: "lower",
			Note: fmt.Sprintf("the server's CPU a call, %.0f µs by REST and %.0f µs by Connect JSON; median of %d pairs of "+
				"rounds", figures.Median(restCPU), figures.Median(connectCPU), rounds),
		}.To(40),
		figures.Row{
			Name: "REST: calls a second beside Connect JSON, " + p.name, Value: figures.Round(figures.Median(restRate)),
			Unit: "1/s", Better: "higher",
			Note: fmt.Sprintf("%d callers", callers),
		}.Against(figures.Median(connectRate)),
	}, nil
}
