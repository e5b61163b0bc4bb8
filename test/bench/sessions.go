package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/test/figures"
)

// sessions measures POST /sessions against the same statements without us.
func sessions(ctx context.Context, w *world) ([]figures.Row, error) {
	create := call{method: http.MethodPost, url: w.URL + "/v1/sessions", header: w.Header(), status: http.StatusCreated}
	var err error
	if create.body, err = json.Marshal(map[string]string{"agent_id": w.Agent, "user_id": "bench", "modality": "text"}); err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	seen, err := w.watch(ctx, create)
	if err != nil {
		return nil, err
	}
	var own, bare, ours, pgbench []float64
	for n := range rounds + 1 {
		s, err := underLoad(ctx, w.server, w.HTTP, create, w.round)
		if err != nil {
			return nil, err
		}
		floor, err := w.floor(ctx, seen.statements)
		if err != nil {
			return nil, err
		}
		tps, err := w.pgbench(ctx, seen.statements)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue // to warm up
		}
		own, bare = append(own, micros(s.cpu)), append(bare, floor)
		ours, pgbench = append(ours, s.perSecond), append(pgbench, tps)
	}
	beyond := make([]float64, rounds)
	for i := range beyond {
		beyond[i] = own[i] - bare[i]
	}
	return []figures.Row{
		figures.Row{
			Name: "POST /sessions: own CPU beyond the SQL", Value: figures.Round(figures.Median(beyond)), Unit: "µs", Better: "lower",
			Note: fmt.Sprintf("the server's CPU a call (%.0f µs) less that of a bare client which sends the same statements by the "+
				"same driver (%.0f µs)", figures.Median(own), figures.Median(bare)),
		}.To(350),
		figures.Row{
			Name: "POST /sessions: round trips to the database", Value: figures.Round(seen.roundTrips), Unit: "", Better: "lower",
			Note: fmt.Sprintf("counted on the wire over %d calls, authentication included", watched),
		}.To(2),
		figures.Row{
			Name: "POST /sessions: calls a second against pgbench", Value: figures.Round(figures.Median(ours)),
			Unit: "1/s", Better: "higher",
			Note: fmt.Sprintf("%d callers; pgbench runs the same statements with as many clients", callers),
		}.Against(figures.Median(pgbench)),
	}, nil
}

// watched is how many calls are watched on the wire.
const watched = 100

// observed is what the calls sent to the database.
type observed struct {
	roundTrips float64
	// statements are those of one call, with an id that each run makes anew.
	statements []string
}

// sessionID is an id as the statements hold it.
var sessionID = regexp.MustCompile(`'ses_[0-9a-z]+'`)

// watch sends the call through a server whose database connections are listened to.
func (w *world) watch(ctx context.Context, create call) (observed, error) {
	tap, err := newTap(ctx, w.Stack.DatabaseURL)
	if err != nil {
		return observed{}, err
	}
	defer tap.close()
	server, url, err := w.serve(ctx, tap.url)
	if err != nil {
		return observed{}, errors.Join(err, server.Stop())
	}
	create.url = strings.Replace(create.url, w.URL, url, 1)
	for range 5 { // the first ones make a signing key, learn the agent, note the key's use
		if err := create.send(ctx, w.HTTP); err != nil {
			return observed{}, errors.Join(err, server.Stop())
		}
	}
	tap.reset()
	for range watched {
		if err := create.send(ctx, w.HTTP); err != nil {
			return observed{}, errors.Join(err, server.Stop())
		}
	}
	traffic := tap.reset()
	if err := server.Stop(); err != nil {
		return observed{}, err
	}
	out := observed{}
	// A server has work of its own beside; its statements are not those that every call sends.
	for _, seen := range traffic.shapes {
		if seen.count >= watched {
			out.statements = append(out.statements, sessionID.ReplaceAllString(seen.text, "('ses_' || gen_random_uuid())"))
		}
	}
	if len(out.statements) == 0 {
		return observed{}, errors.New("no statement was seen on the wire")
	}
	out.roundTrips = float64(traffic.trips) / watched
	return out, nil
}

// floor is the CPU in µs that a process of its own spends on one run of the statements.
func (w *world) floor(ctx context.Context, statements []string) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("finding this program: %w", err)
	}
	order, err := json.Marshal(floorOrder{URL: w.Stack.DatabaseURL, Statements: statements, Duration: w.round})
	if err != nil {
		return 0, fmt.Errorf("encoding the statements: %w", err)
	}
	command := exec.CommandContext(ctx, self, floorCommand)
	command.Stdin, command.Stderr = bytes.NewReader(order), os.Stderr
	output, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("running the statements alone: %w", err)
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
	if err != nil {
		return 0, fmt.Errorf("reading the floor: %w", err)
	}
	return value, nil
}

var tpsLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// pgbench is how many runs of the statements pgbench makes in a second.
func (w *world) pgbench(ctx context.Context, statements []string) (float64, error) {
	script := filepath.Join(w.Dir, "sessions.sql")
	if err := os.WriteFile(script, []byte(strings.Join(oneLine(statements), ";\n")+";\n"), 0o600); err != nil {
		return 0, fmt.Errorf("writing pgbench's script: %w", err)
	}
	command := exec.CommandContext(ctx, filepath.Join(w.Stack.Postgres.BinDir, "pgbench"),
		"--no-vacuum", "--client", strconv.Itoa(callers), "--jobs", "2", "--time", strconv.Itoa(max(1, int(w.round/time.Second))),
		"--file", script, w.Stack.DatabaseURL)
	output, err := command.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("running pgbench: %w\n%s", err, output)
	}
	match := tpsLine.FindSubmatch(output)
	if match == nil {
		return 0, fmt.Errorf("pgbench said no tps:\n%s", output)
	}
	tps, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		return 0, fmt.Errorf("reading pgbench's tps: %w", err)
	}
	return tps, nil
}

func oneLine(statements []string) []string {
	lines := make([]string, len(statements))
	for i, statement := range statements {
		lines[i] = strings.Join(strings.Fields(statement), " ")
	}
	return lines
}
