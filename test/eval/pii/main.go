package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/pii"
)

// The lines of the page between which the figures stand.
const (
	begin = "<!-- figures: task eval:pii -->\n"
	end   = "<!-- end of figures -->\n"
)

func main() {
	set := flag.String("set", "test/eval/pii/testdata/labelled.tsv", "the labelled set")
	page := flag.String("page", "docs/retention.md", "the page with the figures; empty: only print")
	flag.Parse()
	if err := run(*set, *page); err != nil {
		fmt.Fprintln(os.Stderr, "pii:", err)
		os.Exit(1)
	}
}

func run(set, page string) error {
	examples, err := load(set)
	if err != nil {
		return err
	}
	r := measure(examples)
	fmt.Print(r.table(), "\nMissed:\n", strings.Join(r.missed, "\n"), "\n\nWrongly found:\n", strings.Join(r.wrong, "\n"), "\n")
	if page == "" {
		return nil
	}
	content, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	written, err := r.writeInto(string(content))
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(written), 0o644)
}

// writeInto replaces the figures in a page.
func (r result) writeInto(page string) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the page has no place for the figures: %q", strings.TrimSpace(begin))
	}
	return before + begin + r.table() + end + after, nil
}

// table is the figures in Markdown.
func (r result) table() string {
	var b strings.Builder
	b.WriteString("| Kind | In the set | Missed | Miss rate | Wrongly found | In texts without any |\n|---|---|---|---|---|---|\n")
	kinds := slices.Sorted(slices.Values(pii.Kinds))
	all, found, alarms := 0, 0, 0
	row := func(name string, all, missed, alarms int) {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% | %d | %.1f %% of %d |\n",
			name, all, missed, percent(missed, all), alarms, percent(alarms, r.texts), r.texts)
	}
	for _, kind := range kinds {
		row("`"+string(kind)+"`", r.all[kind], r.all[kind]-r.found[kind], r.alarms[kind])
		all, found, alarms = all+r.all[kind], found+r.found[kind], alarms+r.alarms[kind]
	}
	row("all", all, all-found, alarms)
	b.WriteString("\n| Example numbers of all countries | Numbers | Missed | Miss rate |\n|---|---|---|---|\n")
	for _, f := range formats {
		all, missed := examplesOf(f.format)
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% |\n", f.name, all, missed, percent(missed, all))
	}
	return b.String()
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(1, all)) }
