package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
)

const (
	// timeout bounds a call: somebody waits for the text.
	timeout = 5 * time.Second
	// maxCallChars bounds the sentences of one call. A longer text is asked about in several.
	maxCallChars = 12_000
	// contextChars is how much of the text before the sentences the model is shown.
	contextChars = 600
	// maxAnswerTokens is enough for some twenty broken rules. The first one acts.
	maxAnswerTokens = 400
)

// Purpose is what requests of judges have in their metadata as "purpose".
const Purpose = "judge"

// Rule is what one guard forbids.
type Rule struct {
	// Zone is the place of the guard in the agent's list.
	Zone int
	// Instructions say what is forbidden.
	Instructions string
	// Allow passes sentences on that the model cannot be asked about.
	Allow bool
}

// Judge asks a language model whether sentences break rules. Rules and Now are required.
type Judge struct {
	// Provider is the model's; nil, and the extractive responder: each question fails.
	Provider model.Provider
	// Model overrides the configured model of the provider.
	Model string
	Rules []Rule
	// Fence marks the sentences as data. Whoever wrote them must not know its name.
	Fence guards.Fence
	// Metadata has ids for logs and tests.
	Metadata map[string]string
	Now      func() time.Time
}

// Broken is a rule that a sentence breaks, both by their places in their lists.
type Broken struct{ Rule, Sentence int }

// The outcomes of a call.
const (
	Clear  = "clear"
	Hit    = "broken"
	Failed = "failed"
)

// Call is one call of the model.
type Call struct {
	Request         model.Request
	Result          model.Result
	Err             error
	Asked, Answered time.Time
	// Outcome is one of the above.
	Outcome string
}

// errNoModel says that no language model answers.
var errNoModel = errors.New("no language model can be asked as the judge")

// Ask returns the rules that sentences break, by sentence, then by rule. before is what was said
// before them in the same text, and is not judged. The calls are returned also beside an error.
// Errors: those of the model, an answer that cannot be read, no answer within 5 s.
func (j *Judge) Ask(ctx context.Context, before string, sentences []string) (broken []Broken, calls []Call, err error) {
	for first := 0; first < len(sentences); {
		last, chars := first, 0
		for last < len(sentences) && (last == first || chars+utf8.RuneCountInString(sentences[last]) <= maxCallChars) {
			chars += utf8.RuneCountInString(sentences[last])
			last++
		}
		found, call := j.ask(ctx, before, sentences[first:last])
		calls = append(calls, call)
		if call.Err != nil {
			return broken, calls, call.Err
		}
		for _, b := range found {
			broken = append(broken, Broken{b.Rule, b.Sentence + first})
		}
		before, first = before+strings.Join(sentences[first:last], ""), last
	}
	return broken, calls, nil
}

// ask is one call of the model.
func (j *Judge) ask(ctx context.Context, before string, sentences []string) (broken []Broken, call Call) {
	call.Request, call.Asked, call.Outcome = j.request(before, sentences), j.Now(), Failed
	defer func() { call.Answered = j.Now() }()
	if j.Provider == nil || j.Provider.Name() == extractive.Name {
		call.Err = errNoModel
		return nil, call
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	call.Result, call.Err = j.stream(bounded, &call.Request)
	switch {
	case call.Err != nil && bounded.Err() != nil && ctx.Err() == nil:
		call.Err = fmt.Errorf("the judge did not answer within %s: %w", timeout, call.Err)
	case call.Err == nil && call.Result.Provider == extractive.Name: // the last of the agent's fallbacks
		call.Err = errNoModel
	case call.Err == nil:
		broken, call.Err = readAnswer(call.Result.Text, len(j.Rules), len(sentences))
	}
	if call.Err != nil {
		return nil, call
	}
	slices.SortStableFunc(broken, func(a, b Broken) int {
		return cmp.Or(cmp.Compare(a.Sentence, b.Sentence), cmp.Compare(j.Rules[a.Rule].Zone, j.Rules[b.Rule].Zone))
	})
	if call.Outcome = Clear; len(broken) > 0 {
		call.Outcome = Hit
	}
	return broken, call
}

// stream asks the model. Models that reason refuse a temperature, so a request that is refused is
// sent once more without one.
func (j *Judge) stream(ctx context.Context, req *model.Request) (result model.Result, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the judge's model panicked: %v", panicked)
		}
	}()
	listen := func(model.Event) error { return ctx.Err() }
	result, err = j.Provider.Stream(ctx, *req, listen)
	if model.IsRefusedRequest(err) {
		req.Temperature = nil
		result, err = j.Provider.Stream(ctx, *req, listen)
	}
	return result, err
}
