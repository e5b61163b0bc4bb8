package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"parlance.dev/parlance/agents/nogo"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/vector"
	"parlance.dev/parlance/provider/embedding"
)

// Comparer compares sentences with the examples of guards. The zero value compares nothing.
type Comparer struct {
	// Embedder is the installation's; nil: there is none.
	Embedder embedding.Embedder
}

// Compares says that there is a model that knows what sentences mean. The built-in embedder goes by
// words: it finds four of ten paraphrases, which protects nobody.
func (c Comparer) Compares() bool { return c.Embedder != nil && !c.Embedder.Model().Local }

// errNothingCompares refuses examples where no model compares them.
func errNothingCompares() error {
	return fault.New(fault.NotImplemented, "examples of guards need an embedding model (PARLANCE_EMBEDDING_BASE_URL): the built-in one "+
		"goes by words and would miss most of what means the same. Use phrases and patterns.")
}

// Zones are the no-go zones of the agent, in the order of Guards. Errors: a phrase or pattern that
// cannot be used, Unimplemented not-implemented (examples that nothing compares).
func (c Config) Zones(by Comparer) (*nogo.Zones, error) {
	zones := make([]nogo.Zone, len(c.Guards))
	var examples []string
	for i, g := range c.Guards {
		zones[i] = nogo.Zone{
			Name: g.Name, Phrases: g.Phrases, Patterns: g.Patterns, Examples: g.Examples, MinSimilarity: g.MinSimilarity,
		}
		examples = append(examples, g.Examples...)
	}
	if !by.Compares() {
		if len(examples) > 0 {
			return nil, errNothingCompares()
		}
		return nogo.Compile(zones, nil)
	}
	return nogo.Compile(zones, by.to(examples))
}

// to compares sentences with examples, whose vectors are made once, with the first sentences.
func (c Comparer) to(examples []string) nogo.CompareFunc {
	var mu sync.Mutex
	var known [][]float32
	vectors := func(ctx context.Context) ([][]float32, error) {
		mu.Lock()
		defer mu.Unlock()
		var err error
		if known == nil {
			known, err = c.directions(ctx, examples)
		}
		return known, err
	}
	return func(ctx context.Context, sentences []string) ([][]float64, error) {
		others, err := vectors(ctx)
		if err != nil {
			return nil, fmt.Errorf("embed the examples of guards: %w", err)
		}
		mine, err := c.directions(ctx, sentences)
		if err != nil {
			return nil, fmt.Errorf("embed sentences for guards: %w", err)
		}
		similarities := make([][]float64, len(mine))
		for i, one := range mine {
			for _, other := range others {
				similarities[i] = append(similarities[i], float64(min(1, max(0, vector.Dot(one, other)))))
			}
		}
		return similarities, nil
	}
}

// directions are vectors of the length 1.
func (c Comparer) directions(ctx context.Context, texts []string) ([][]float32, error) {
	trimmed := make([]string, len(texts))
	for i, text := range texts {
		trimmed[i] = strings.TrimSpace(text)
	}
	made, err := c.Embedder.Embed(ctx, trimmed, embedding.Query)
	for _, one := range made {
		vector.Scale(one, float32(vector.InverseLength(one)))
	}
	return made, err
}

// checkGuards refuses guards that would guard nothing or cannot be used, and two of one name.
// Errors: Invalid invalid-request, Unimplemented not-implemented (examples that nothing compares).
func checkGuards(guards []Guard, by Comparer) error {
	if !by.Compares() && slices.ContainsFunc(guards, func(g Guard) bool { return len(g.Examples) > 0 }) {
		return errNothingCompares()
	}
	var fields []fault.Field
	names := map[string]bool{}
	for i, g := range guards {
		add := func(field, code, message string) {
			fields = append(fields, fault.Field{Field: fmt.Sprintf("guards[%d].%s", i, field), Code: code, Message: message})
		}
		if names[g.Name] {
			add("name", "repeated", "Another guard has this name; events and receipts tell guards by their names.")
		}
		names[g.Name] = true
		if len(g.Phrases)+len(g.Patterns)+len(g.Examples) == 0 && g.Judge == nil {
			add("phrases", "required", "The guard has no phrase, no pattern, no example and no judge, so it would guard nothing.")
		}
		if g.Judge != nil && g.Judge.Model != (ModelRef{}) && g.Judge.Model != judgeModel(guards) {
			add("judge.model", "different", "Another judge of the agent names another model. All are asked in one call: name one model.")
		}
		if len(g.Examples) > 0 && g.MinSimilarity <= 0 {
			add("min_similarity", "required", "Say from which similarity a sentence is like an example: models differ. Begin with 0.7, and see "+
				"what guards/check says.")
		}
		if _, err := nogo.Compile([]nogo.Zone{{Name: g.Name, Phrases: g.Phrases}}, nil); err != nil {
			add("phrases", "unusable", err.Error())
		}
		if _, err := nogo.Compile([]nogo.Zone{{Name: g.Name, Patterns: g.Patterns}}, nil); err != nil {
			add("patterns", "unusable", err.Error())
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.InvalidFields(fields...)
}
