package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/pii"
)

// example is a text of the labelled set.
type example struct {
	language, text string
	// wanted are the marked parts.
	wanted []pii.Match
	// harmless says that the example is of the part without personal data.
	harmless bool
}

// mark is a marked part of a text: {{kind:text}}.
var mark = regexp.MustCompile(`\{\{([a-z]+):(.*?)\}\}`)

// load reads a labelled set; its first lines say how it is written.
func load(file string) ([]example, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the labelled set: %w", err)
	}
	var examples []example
	harmless := false
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# "):
			continue
		case line == "---":
			harmless = true
			continue
		}
		language, marked, found := strings.Cut(line, "\t")
		one := example{language: language, harmless: harmless}
		one.text, one.wanted = unmark(marked)
		if !found || harmless != (len(one.wanted) == 0) {
			return nil, fmt.Errorf("the labelled set has a wrong line: %q", line)
		}
		examples = append(examples, one)
	}
	if len(examples) == 0 {
		return nil, errors.New("the labelled set is empty")
	}
	return examples, nil
}

// unmark returns a text without its marks, and where they were.
func unmark(marked string) (text string, wanted []pii.Match) {
	done := 0
	for _, at := range mark.FindAllStringSubmatchIndex(marked, -1) {
		text += marked[done:at[0]]
		from := len(text)
		text += marked[at[4]:at[5]]
		wanted = append(wanted, pii.Match{Kind: pii.Kind(marked[at[2]:at[3]]), From: from, To: len(text)})
		done = at[1]
	}
	return text + marked[done:], wanted
}

// result is what was found of a set.
type result struct {
	// found of all are marked parts of which no character was left.
	found, all map[pii.Kind]int
	// alarms of texts are examples without personal data in which some was found.
	alarms map[pii.Kind]int
	texts  int
	// missed and wrong are the examples, for people.
	missed, wrong []string
}

func measure(examples []example) result {
	r := result{found: map[pii.Kind]int{}, all: map[pii.Kind]int{}, alarms: map[pii.Kind]int{}}
	for _, one := range examples {
		found := pii.New(pii.Kinds, one.language).Find(one.text)
		for _, want := range one.wanted {
			r.all[want.Kind]++
			if slices.ContainsFunc(found, func(m pii.Match) bool { return m.Kind == want.Kind && m.From <= want.From && m.To >= want.To }) {
				r.found[want.Kind]++
			} else {
				r.missed = append(r.missed, one.language+": "+one.text+": "+one.text[want.From:want.To])
			}
		}
		if !one.harmless {
			continue
		}
		r.texts++
		kinds := map[pii.Kind]bool{}
		for _, m := range found {
			kinds[m.Kind] = true
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %s: %s %s", one.language, one.text, m.Kind, one.text[m.From:m.To]))
		}
		for kind := range kinds {
			r.alarms[kind]++
		}
	}
	return r
}
