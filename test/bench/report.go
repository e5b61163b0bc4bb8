package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Row is one figure. Target is compared with Ratio where there is one, else with Value; fields
// that say nothing are left out.
type Row struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Floor is what Value cannot be better than here, or the peer it is compared with, in Unit.
	Floor *float64 `json:"floor,omitempty"`
	// Ratio is Value through Floor.
	Ratio  *float64 `json:"ratio,omitempty"`
	Target *float64 `json:"target,omitempty"`
	// Better is lower or higher.
	Better string `json:"better"`
	// Note says how it was measured.
	Note string `json:"note"`
}

// against sets the floor and the ratio to it.
func (r Row) against(floor float64) Row {
	ratio := round(r.Value / floor)
	floor = round(floor)
	r.Floor, r.Ratio = &floor, &ratio
	return r
}

// target sets the target.
func (r Row) target(target float64) Row {
	r.Target = &target
	return r
}

// Held says whether the row meets its target, if it has one.
func (r Row) Held() bool {
	if r.Target == nil {
		return true
	}
	figure := r.Value
	if r.Ratio != nil {
		figure = *r.Ratio
	}
	if r.Better == "higher" {
		return figure >= *r.Target
	}
	return figure <= *r.Target
}

// String is the row as a line of the table.
func (r Row) String() string {
	cells := []string{r.Name, number(&r.Value) + " " + r.Unit, number(r.Floor), number(r.Ratio), "", r.Note}
	if r.Target != nil {
		sign, verdict := "≤ ", "held"
		if r.Better == "higher" {
			sign = "≥ "
		}
		if !r.Held() {
			verdict = "**missed**"
		}
		cells[4] = sign + number(r.Target) + ", " + verdict
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// round keeps three figures: more than the measurement is worth.
func round(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return short
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// write writes both files.
func write(dir string, rows []Row) error {
	encoded, err := json.MarshalIndent(struct {
		Rows []Row `json:"rows"`
	}{rows}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the rows: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "benchmarks.json"), append(encoded, '\n'), 0o644); err != nil { //nolint:gosec // a document
		return fmt.Errorf("writing the rows: %w", err)
	}
	var page strings.Builder
	fmt.Fprintf(&page, `# Benchmarks

Written by `+"`task bench`"+` (`+"`go run ./test/bench`"+`), last on %d cores of %s/%s with %s. Postgres syncs to disk.
Callers, Postgres, Redis and the service share the cores, so times are those of a small machine; the ratio
to the floor, measured in the same run and in turns with the figure, is what can be compared.

| Figure | Value | Floor | Ratio | Target | How |
|---|---|---|---|---|---|
`, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, row := range rows {
		fmt.Fprintln(&page, row)
	}
	if err := os.WriteFile(filepath.Join(dir, "benchmarks.md"), []byte(page.String()), 0o644); err != nil { //nolint:gosec // a document
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
