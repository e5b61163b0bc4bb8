package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/term"
)

// maxSecretBytes is far above any header.
const maxSecretBytes = 64 << 10

// maxTries is how often a person is asked the same.
const maxTries = 5

// asker asks a person.
type asker struct {
	in     io.Reader
	out    io.Writer
	person bool

	buffered *bufio.Reader
}

// line reads an answer. The read cannot be called back when ctx ends first, which is the end of
// the process.
func (a *asker) line(ctx context.Context, question string) (string, error) {
	if a.buffered == nil {
		a.buffered = bufio.NewReader(a.in)
	}
	fmt.Fprint(a.out, question)
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1) // the reader must not wait for us when ctx has ended
	go func() {
		text, err := a.buffered.ReadString('\n')
		if text != "" {
			err = nil
		}
		answers <- answer{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-answers:
		if errors.Is(got.err, io.EOF) {
			return "", errors.New("the input has ended before the question was answered")
		}
		return got.text, got.err
	}
}

// confirm reads yes or no; just Enter is yes.
func (a *asker) confirm(ctx context.Context) (bool, error) {
	answer, err := a.line(ctx, "Go ahead? [Y/n] ")
	answer = strings.ToLower(answer)
	return answer == "" || answer == "y" || answer == "yes", err
}

// secret reads what is not shown while it is typed.
func (a *asker) secret(ctx context.Context, question string) (string, error) {
	if file, ok := a.in.(*os.File); ok {
		restore, err := term.Hide(file)
		if err != nil {
			return "", fmt.Errorf("hide what is typed: %w", err)
		}
		defer func() {
			restore()
			fmt.Fprintln(a.out)
		}()
	}
	return a.line(ctx, question)
}

// checkSecret refuses a secret that stands on the command line.
func checkSecret(flag, given string) error {
	if given == "" || given == "ask" || strings.HasPrefix(given, "@") || strings.HasPrefix(given, "env:") {
		return nil
	}
	return fmt.Errorf("%s takes @file, env:NAME or ask: what stands on the command line is seen by everybody on this machine", flag)
}

// readSecret reads a secret from where a flag says; empty when it says nothing.
func readSecret(ctx context.Context, given, question string, ask *asker) (string, error) {
	if path, ok := strings.CutPrefix(given, "@"); ok {
		return secretFile(path)
	}
	if name, ok := strings.CutPrefix(given, "env:"); ok {
		value, found := app.OSSource(nil).LookupEnv(name)
		if !found || strings.TrimSpace(value) == "" {
			return "", fmt.Errorf("the variable %s is not set", name)
		}
		return strings.TrimSpace(value), nil
	}
	if given == "" {
		return "", nil
	}
	if !ask.person {
		return "", errors.New("nobody is there to be asked for the Authorization header: give @file or env:NAME")
	}
	return ask.secret(ctx, question)
}

// secretFile is a file's text without the line end.
func secretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read
	raw, err := io.ReadAll(io.LimitReader(file, maxSecretBytes+1))
	switch value := strings.TrimSpace(string(raw)); {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	case len(raw) > maxSecretBytes:
		return "", fmt.Errorf("%s is larger than %d KiB", path, maxSecretBytes>>10)
	case value == "":
		return "", fmt.Errorf("%s is empty", path)
	default:
		return value, nil
	}
}

// pick has a person choose among the operations.
func (a *toolsAdd) pick(ctx context.Context, plans []*toolPlan) ([]*toolPlan, error) {
	a.showChoices(plans)
	for range maxTries {
		answer, err := a.ask.line(ctx, "\nWhich? Numbers and ranges (1-3, 7), words that are in them, or all; just Enter: none\n▸ ")
		if err != nil {
			return nil, err
		}
		if answer == "" {
			a.screen.Line("Nothing was made.")
			return nil, nil
		}
		picked, err := pickPlans(plans, answer)
		if err == nil {
			return picked, nil
		}
		a.line("%s", err.Error())
	}
	return nil, errors.New("the choice was not understood")
}

var pickRange = regexp.MustCompile(`^([0-9]{1,6})(?:-([0-9]{1,6}))?$`)

// pickPlans reads a choice: numbers, ranges, and words for operations that can be tools.
func pickPlans(plans []*toolPlan, answer string) ([]*toolPlan, error) {
	chosen := make([]bool, len(plans))
	for part := range strings.FieldsFuncSeq(answer, func(r rune) bool { return r == ',' || r == ' ' }) {
		if numbers := pickRange.FindStringSubmatch(part); numbers != nil {
			from, _ := strconv.Atoi(numbers[1]) // digits, and few
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
			where := strings.ToLower(p.op.Slug + " " + p.op.ID + " " + p.op.Method + " " + p.op.Path + " " + p.op.Summary + " " + strings.Join(p.op.Tags, " "))
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
