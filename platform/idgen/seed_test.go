package idgen_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/platform/idgen"
)

func TestSeed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	ctx := idgen.WithSeed(t.Context(), idgen.Seed{At: at, Secret: []byte("a")})
	agent, tool := idgen.In(ctx, idgen.Agent), idgen.UUIDIn(ctx)
	if !idgen.Valid(idgen.Agent, agent) || !idgen.ValidUUID(tool) || tool[14] != '7' {
		t.Errorf("%s, %s", agent, tool)
	}
	if idgen.In(ctx, idgen.Agent) != agent || idgen.UUIDIn(ctx) != tool {
		t.Error("the same request gets other ids")
	}
	if idgen.In(ctx, idgen.Source)[4:] == agent[4:] {
		t.Error("two kinds share an id")
	}
	if a, b := idgen.InFor(ctx, idgen.Source, "a"), idgen.InFor(ctx, idgen.Source, "b"); a == b || a != idgen.InFor(ctx, idgen.Source, "a") {
		t.Errorf("things of two names get %s and %s", a, b)
	}
	for name, other := range map[string]idgen.Seed{
		"secret": {At: at, Secret: []byte("b")},
		"time":   {At: at.Add(time.Hour), Secret: []byte("a")},
	} {
		if idgen.In(idgen.WithSeed(t.Context(), other), idgen.Agent) == agent {
			t.Errorf("another %s gives the same id", name)
		}
	}
	if later := idgen.In(idgen.WithSeed(t.Context(), idgen.Seed{At: at.Add(time.Millisecond)}), idgen.Agent); later <= agent {
		t.Errorf("%s does not sort after %s", later, agent)
	}
	first, second := idgen.In(t.Context(), idgen.Agent), idgen.In(t.Context(), idgen.Agent)
	if first == second {
		t.Error("without a key ids repeat")
	}
}
