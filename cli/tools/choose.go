package tools

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxTries is how often the same question is asked.
const maxTries = 5

// pick asks a person which operations to use.
func (a *adder) pick(ctx context.Context, plans []*plan) ([]*plan, error) {
	a.showChoices(plans)
	for range maxTries {
		answer, err := a.person.Line(ctx, "\nWhich? Numbers and ranges (1-3, 7), words that are in them, or all; just Enter: none\n▸ ")
		if err != nil {
			return nil, err
		}
		if answer == "" {
			a.Screen.Line("Nothing was made.")
			return nil, nil
		}
		picked, err := pickPlans(plans, answer)
		if err == nil {
			return picked, nil
		}
		a.Line("%s", err.Error())
	}
	return nil, errors.New("the choice was not understood")
}

var pickRange = regexp.MustCompile(`^([0-9]{1,6})(?:-([0-9]{1,6}))?$`)

// pickPlans parses a choice: numbers, ranges, and words for operations that can be tools.
func pickPlans(plans []*plan, answer string) ([]*plan, error) {
	chosen := make([]bool, len(plans))
	for part := range strings.FieldsFuncSeq(answer, func(r rune) bool { return r == ',' || r == ' ' }) {
		if numbers := pickRange.FindStringSubmatch(part); numbers != nil {
			from, _ := strconv.Atoi(numbers[1]) // the pattern allows at most six digits
			to := from
			if numbers[2] != "" {
				to, _ = strconv.Atoi(numbers[2])
			}
			if from < 1 || to > len(plans) || from > to {
				return nil, fmt.Errorf("%s is not from 1 to %d", part, len(plans))
			}
			for i := from; i <= to; i++ {
				chosen[i-1] = true
			}
			continue
		}
		matched := false
		for i, p := range plans {
			where := strings.ToLower(p.op.Slug + " " + p.op.ID + " " + p.op.Method + " " + p.op.Path + " " + p.op.Summary +
				" " + strings.Join(p.op.Tags, " "))
			if p.want != nil && (part == "all" && !p.op.Deprecated || part != "all" && strings.Contains(where, strings.ToLower(part))) {
				chosen[i], matched = true, true
			}
		}
		if !matched {
			return nil, fmt.Errorf("%q is in none that can be a tool", part)
		}
	}
	picked := slices.Clone(plans)[:0]
	for i, p := range plans {
		if chosen[i] {
			picked = append(picked, p)
		}
	}
	return picked, nil
}
