package devstack

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlanBrew tests what the macOS recipe decides; it has not been run on a Mac.
func TestPlanBrew(t *testing.T) {
	t.Parallel()
	good := Postgres{BinDir: "/opt/homebrew/opt/postgresql@17/bin", Major: 17, Vector: "0.8.2"}
	redis := Redis{Path: "/opt/homebrew/bin/redis-server"}
	pdftotext := Tool{Command: "pdftotext", Brew: "poppler"}
	for name, row := range map[string]struct {
		found Found
		tools []Tool
		want  string
	}{
		"nothing there": {want: "brew install pgvector postgresql@17 redis"},
		"Postgres without vector": {found: Found{
			Postgres: Postgres{BinDir: "/usr/local/opt/postgresql@15/bin", Major: 15},
			Redis:    redis,
		}, want: "brew install pgvector postgresql@17"},
		"Redis missing":  {found: Found{Postgres: good}, want: "brew install redis"},
		"a tool missing": {found: Found{Postgres: good, Redis: redis}, tools: []Tool{pdftotext}, want: "brew install poppler"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var plan InstallPlan
			plan.addTools(brew, nil, row.tools)
			planBrew(row.found, &plan)
			plan.finish(brew)
			if plan.Command != row.want || plan.Automatic {
				t.Errorf("got %q (automatic %v), want %q", plan.Command, plan.Automatic, row.want)
			}
		})
	}
}

// TestBrewedFirst: a newer Postgres without pgvector is not chosen over an older one with it.
func TestBrewedFirst(t *testing.T) {
	t.Parallel()
	all := []Postgres{{Major: 16, Vector: "0.7.4"}, {Major: 17, Vector: "0.8.2"}, {Major: 18}, {Major: 15, Vector: "0.8.0"}}
	slices.SortStableFunc(all, newestFirst)
	slices.SortStableFunc(all, brewedFirst)
	var got []int
	for _, pg := range all {
		got = append(got, pg.Major)
	}
	if diff := cmp.Diff([]int{17, 15, 18, 16}, got); diff != "" {
		t.Error(diff)
	}
}
