package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"parlance.dev/parlance/agents/judge"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/workspaces"
)

// ModelFunc finds the model that a choice names. Errors: Upstream upstream-failed when it is not
// configured.
type ModelFunc func(ctx context.Context, ref workspaces.Ref, choice Model) (model.Provider, error)

// JudgeRules are what the judges of the agent's guards forbid.
func (c Config) JudgeRules() []judge.Rule {
	var rules []judge.Rule
	for i, g := range c.Guards {
		if g.Judge != nil {
			rules = append(rules, judge.Rule{Zone: i, Instructions: g.Judge.Instructions, Allow: g.Judge.OnFailure == JudgeAllow})
		}
	}
	return rules
}

// JudgeModel is the model that is asked as the judge: the one that a guard names, without
// fallbacks, else the agent's own. own says which.
func (c Config) JudgeModel() (choice Model, own bool) {
	if named := judgeModel(c.Guards); named != (ModelRef{}) {
		return Model{Provider: named.Provider, Name: named.Name}, false
	}
	return c.Model, true
}

// judgeModel is the first model that a judge names.
func judgeModel(guards []Guard) ModelRef {
	for _, g := range guards {
		if g.Judge != nil && g.Judge.Model != (ModelRef{}) {
			return g.Judge.Model
		}
	}
	return ModelRef{}
}

// errNoJudge refuses judges where no language model answers.
func errNoJudge() error {
	return fault.New(fault.NotImplemented, "judges of guards need a language model (PARLANCE_MODEL_BASE_URL, or a credential of the "+
		"workspace): the built-in responder judges nothing. Name a model in judge.model, or use phrases and patterns.")
}

// judgeProvider is the language model that is asked as the judge. Errors: Unimplemented
// not-implemented (there is none).
func (s *Service) judgeProvider(ctx context.Context, ref workspaces.Ref, config Config) (model.Provider, error) {
	if s.models == nil {
		return nil, errNoJudge()
	}
	choice, _ := config.JudgeModel()
	provider, err := s.models(ctx, ref, choice)
	if fault.IsReason(err, fault.UpstreamFailed) || err == nil && provider.Name() == extractive.Name {
		return nil, errNoJudge()
	}
	return provider, err
}

// judgeOf is the judge of an agent's guards; nil: they have none. Errors: as judgeProvider.
func (s *Service) judgeOf(ctx context.Context, ref workspaces.Ref, config Config) (*judge.Judge, error) {
	rules := config.JudgeRules()
	if len(rules) == 0 {
		return nil, nil //nolint:nilnil // most agents have none
	}
	provider, err := s.judgeProvider(ctx, ref, config)
	if err != nil {
		return nil, err
	}
	choice, _ := config.JudgeModel()
	return &judge.Judge{
		Provider: provider, Model: choice.Name, Rules: rules, Now: s.now,
		Fence: guards.NewFence([]byte(rand.Text()), judge.Purpose),
	}, nil
}

// checkJudge refuses judges that no language model answers for, when guards or model have changed.
// Errors: Unimplemented not-implemented.
func (s *Service) checkJudge(ctx context.Context, ref workspaces.Ref, config, stored Config) error {
	unchanged := slices.EqualFunc(config.JudgeRules(), stored.JudgeRules(), func(a, b judge.Rule) bool { return a == b })
	before, _ := stored.JudgeModel()
	now, _ := config.JudgeModel()
	if len(config.JudgeRules()) == 0 || unchanged && before.Provider == now.Provider && before.Name == now.Name {
		return nil
	}
	_, err := s.judgeProvider(ctx, ref, config)
	return err
}

// GuardVerdict is a guard that a text matches.
type GuardVerdict struct {
	Guard
	// Matched is the part of the text, MatchedBy phrase, pattern, similarity or judge.
	Matched, MatchedBy string
	// Similarity is that to the example.
	Similarity float64
}

// CheckGuards returns the guards of an agent that a text matches, in their order; the first one
// acts. Errors: NotFound, Unimplemented not-implemented (what they need was taken away), Upstream
// upstream-failed (the embedder or the judge's model).
func (s *Service) CheckGuards(ctx context.Context, ref workspaces.Ref, id ID, text string) ([]GuardVerdict, error) {
	agent, err := s.Get(ctx, ref, id)
	if err != nil {
		return nil, err
	}
	zones, err := agent.Config.Zones(s.comparer)
	if err != nil {
		return nil, fmt.Errorf("the guards of %s: %w", id, err)
	}
	asked, err := s.judgeOf(ctx, ref, agent.Config)
	if err != nil {
		return nil, err
	}
	found, err := judge.NewScreen(zones, asked).FindAll(ctx, text)
	if err != nil {
		return nil, judgeFault(err)
	}
	verdicts := make([]GuardVerdict, len(found))
	for i, match := range found {
		verdicts[i] = GuardVerdict{agent.Config.Guards[match.Zone], match.Matched, match.By, match.Similarity}
	}
	return verdicts, nil
}

// judgeFault is an error of a judge as a caller sees it.
func judgeFault(err error) error {
	if _, decided := errors.AsType[*fault.Error](err); decided {
		return err
	}
	return fault.Wrap(err, fault.UpstreamFailed, "The guards could not be checked: %v.", err)
}
