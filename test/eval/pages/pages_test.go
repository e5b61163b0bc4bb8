package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/pdf/poppler"
	"parlance.dev/parlance/test/doctools"
)

var update = flag.Bool("update", false, "write scores.txt anew")

// rounding is what a score may differ by from the one in scores.txt, which has three digits.
const rounding = 0.001

// TestPages fails when a page is read worse than scores.txt says.
func TestPages(t *testing.T) {
	t.Parallel()
	box := doctools.Sandbox(t)
	const dir = "../testdata/pages"
	golden := filepath.Join(dir, "scores.txt")
	committed, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	before := map[string]score{}
	for line := range strings.Lines(string(committed)) {
		var name string
		var s score
		if _, err := fmt.Sscan(line, &name, &s.Pairs, &s.Words); err != nil {
			t.Fatalf("scores.txt: %q: %v", line, err)
		}
		before[name] = s
	}
	pages, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	reader := poppler.New(poppler.Deps{Sandbox: box})
	var now strings.Builder
	for _, p := range pages {
		text, err := textOf(t.Context(), reader, p.file)
		if err != nil {
			t.Fatal(err)
		}
		got := compare(p.expected, text)
		fmt.Fprintf(&now, "%s %.3f %.3f\n", p.name, got.Pairs, got.Words)
		want, ok := before[p.name]
		if !*update && (!ok || got.Pairs < want.Pairs-rounding || got.Words < want.Words-rounding) {
			t.Errorf("%s: got %+v, want %+v at least; it reads:\n%s", p.name, got, want, text)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const expected = "The old bridge, closed in March. 図書館"
	for text, want := range map[string]score{
		"the OLD bridge closed\nin March 図書館": {1, 1},
		"図書館 in March the old bridge closed":  {6.0 / 8, 1},
		"the old bridge closed":               {3.0 / 8, 4.0 / 9},
		"":                                    {0, 0},
	} {
		if got := compare(expected, text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func TestWithoutNames(t *testing.T) {
	t.Parallel()
	got, want := withoutNames("Land | City\nLand: A | City: B\n | C"), "Land | City\nA | B\n | C"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
