package main

import (
	"os"
	"testing"
)

// TestPage fails when docs/retention.md does not have the figures of today's detectors.
func TestPage(t *testing.T) {
	t.Parallel()
	examples, err := load("testdata/labelled.tsv")
	if err != nil {
		t.Fatal(err)
	}
	harmless := 0
	for _, one := range examples {
		if one.harmless {
			harmless++
		}
	}
	if personal := len(examples) - harmless; personal < 200 || harmless < 300 {
		t.Errorf("the set has %d texts with personal data and %d without; want 200 and 300 at least", personal, harmless)
	}
	page, err := os.ReadFile("../../../docs/retention.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := measure(examples).writeInto(string(page))
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != want {
		t.Errorf("docs/retention.md has other figures than the detectors: run `go run ./test/eval/pii`; it would have\n%s",
			measure(examples).table())
	}
}
