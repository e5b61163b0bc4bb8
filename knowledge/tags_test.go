package knowledge_test

import (
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// tagged are sources that say the same and have other tags.
type tagged struct {
	*fixture
	guide                  agents.ID
	public, german, secret knowledge.SourceID
}

func newTagged(t *testing.T) tagged {
	t.Helper()
	f := setUp(t, "large", nil)
	s := tagged{fixture: f, guide: f.agent(f.ref)}
	put := func(name string, tags ...string) knowledge.SourceID {
		source, err := f.CreateInline(t.Context(), f.ref, name, "# "+name+"\n\nThe museum opens at ten in the morning.\n", tags...)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Ingest(t.Context(), source.ID); err != nil {
			t.Fatal(err)
		}
		return source.ID
	}
	s.public, s.german, s.secret = put("public", "faq", "lang:en"), put("german", "faq", "lang:de"), put("secret", "internal", "lang:en")
	return s
}

var filters = map[string]struct {
	filter agents.TagFilter
	want   []string
}{
	"None":   {agents.TagFilter{}, []string{"german", "public", "secret"}},
	"All":    {agents.TagFilter{AllOf: []string{"faq", "lang:en"}}, []string{"public"}},
	"Any":    {agents.TagFilter{AnyOf: []string{"internal", "lang:de"}}, []string{"german", "secret"}},
	"NoneOf": {agents.TagFilter{NoneOf: []string{"internal"}}, []string{"german", "public"}},
	"Three": {
		agents.TagFilter{AllOf: []string{"faq"}, AnyOf: []string{"lang:de", "lang:en"}, NoneOf: []string{"lang:en"}},
		[]string{"german"},
	},
	"Nothing": {agents.TagFilter{AllOf: []string{"FAQ"}}, nil},
}

// TestTagFilters: a query, a turn and an attach see the sources that pass, also of those that are
// always in the prompt.
func TestTagFilters(t *testing.T) {
	t.Parallel()
	s := newTagged(t)
	s.attach(s.ref, s.guide, knowledge.UsageAuto, s.public, s.german, s.secret)
	always := s.agent(s.ref)
	s.attach(s.ref, always, knowledge.UsagePrompt, s.public, s.german, s.secret)
	for name, row := range filters {
		var asked, prompted, attached []string
		for _, found := range s.ask(s.guide, knowledge.QueryParams{
			Question: "When does the museum open?", Ranking: knowledge.RankHybrid, Filters: []agents.TagFilter{row.filter},
		}) {
			asked = append(asked, found.SourceName)
		}
		passages, _, err := s.Search(s.ref, always, []agents.TagFilter{{}, row.filter}).
			Retrieve(t.Context(), "When does the museum open?", knowledge.RetrieveParams{})
		if err != nil {
			t.Fatal(err)
		}
		for _, passage := range passages {
			prompted = append(prompted, passage.SourceName)
		}
		list, err := s.Attach(t.Context(), s.ref, knowledge.AttachParams{AgentID: s.agent(s.ref), Tags: row.filter})
		for _, one := range list {
			attached = append(attached, one.SourceName)
		}
		if refused := fault.IsReason(err, fault.InvalidRequest); refused != (len(row.want) == 0 || name == "None") || err != nil && !refused {
			t.Errorf("%s: attach: %v", name, err)
		}
		if name == "None" { // attaches nothing
			attached = row.want
		}
		for what, got := range map[string][]string{"asked": asked, "prompted": prompted, "attached": attached} {
			slices.Sort(got)
			if !slices.Equal(got, row.want) {
				t.Errorf("%s: %s %v, want %v", name, what, got, row.want)
			}
		}
	}
}

// TestTagsExplained: a source that tags leave out is not called unattached.
func TestTagsExplained(t *testing.T) {
	t.Parallel()
	s := newTagged(t)
	s.attach(s.ref, s.guide, knowledge.UsageAuto, s.public, s.secret)
	answer, err := s.Query(t.Context(), s.ref, knowledge.QueryParams{
		AgentID: s.guide, Question: "When does the museum open?", ExplainSourceID: s.secret,
		Filters: []agents.TagFilter{{NoneOf: []string{"internal"}}},
	})
	if err != nil || answer.Explanation.Outcome != knowledge.OutcomeFiltered ||
		!strings.Contains(answer.Explanation.Message, "internal, lang:en") {
		t.Errorf("got %+v, %v", answer.Explanation, err)
	}
}

// TestTagsChange: tags are set, replaced and cleared, in order and each once; the list is narrowed
// by them; what is no tag is refused.
func TestTagsChange(t *testing.T) {
	t.Parallel()
	s := newTagged(t)
	for _, step := range []struct{ set, want []string }{
		{[]string{"zoo", "art", "zoo", "product:mpl/2"}, []string{"art", "product:mpl/2", "zoo"}},
		{[]string{}, nil},
		{[]string{"Ärzte"}, []string{"Ärzte"}},
	} {
		source, err := s.Update(t.Context(), s.ref, s.public, knowledge.UpdateParams{Tags: &step.set})
		if err != nil || !slices.Equal(source.Tags, step.want) || !slices.Equal(s.get(s.ref, s.public).Tags, step.want) {
			t.Errorf("%v: %v, %v", step.set, source.Tags, err)
		}
	}
	name := "renamed"
	if source, err := s.Update(t.Context(), s.ref, s.public, knowledge.UpdateParams{Name: &name, Content: new(winter)}); err != nil ||
		!slices.Equal(source.Tags, []string{"Ärzte"}) {
		t.Errorf("new content changed the tags: %v, %v", source.Tags, err)
	}
	list, _, err := s.List(t.Context(), s.ref, knowledge.ListParams{Tags: []string{"faq"}, PageParams: postgres.PageParams{}})
	if err != nil || len(list) != 1 || list[0].ID != s.german {
		t.Errorf("listed %+v, %v", list, err)
	}
	for _, bad := range []string{"", " a", "a b", "a,b", "-a", strings.Repeat("a", 65), "a\x00", "e\u0301"} {
		_, err := s.Update(t.Context(), s.ref, s.public, knowledge.UpdateParams{Tags: &[]string{bad}})
		if !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("tag %q: %v", bad, err)
		}
	}
	many := strings.Split(strings.Repeat("a ", 21), " ")[:21]
	if _, err := s.Update(t.Context(), s.ref, s.public, knowledge.UpdateParams{Tags: &many}); !fault.IsReason(err, fault.InvalidRequest) {
		t.Errorf("21 tags: %v", err)
	}
}

// TestDisabledChunks: a chunk that is off is not found, is in no prompt, and stays off when its
// source is read again with the same text; another workspace cannot switch it.
func TestDisabledChunks(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	filler := strings.Repeat("The garden has many old trees and a pond with fish in it. ", 40)
	text := "# Prices\n\nA ticket costs nine guilders.\n\n" + filler + "\n\n# Hours\n\nThe museum opens at ten.\n\n" + filler
	id := f.ready(f.ref, "guide", text)
	auto, always := f.agent(f.ref), f.agent(f.ref)
	f.attach(f.ref, auto, knowledge.UsageAuto, id)
	f.attach(f.ref, always, knowledge.UsagePrompt, id)
	sees := func(word string) (asked, prompted bool) {
		t.Helper()
		for _, found := range f.ask(auto, knowledge.QueryParams{
			Question: "What does a ticket cost in guilders?", Ranking: knowledge.RankHybrid, TopK: 50,
		}) {
			asked = asked || strings.Contains(found.Content, word)
		}
		passages, _ := f.retrieve(always, "What does a ticket cost?", knowledge.RetrieveParams{})
		for _, passage := range passages {
			prompted = prompted || strings.Contains(passage.Content, word)
		}
		return asked, prompted
	}
	chunks, _, err := f.ListChunks(t.Context(), f.ref, id, postgres.PageParams{})
	if err != nil || len(chunks) < 2 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	priced := chunks[slices.IndexFunc(chunks, func(c knowledge.Chunk) bool { return strings.Contains(c.Content, "guilders") })]
	if asked, prompted := sees("guilders"); !asked || !prompted {
		t.Fatalf("before: asked %v, prompted %v", asked, prompted)
	}
	if got, err := f.SetChunkDisabled(t.Context(), f.ref, id, priced.ID, true); err != nil || !got.Disabled {
		t.Fatalf("off: %+v, %v", got, err)
	}
	if asked, prompted := sees("guilders"); asked || prompted {
		t.Errorf("off: asked %v, prompted %v", asked, prompted)
	}
	if asked, prompted := sees("opens at ten"); !asked || !prompted {
		t.Errorf("the others: asked %v, prompted %v", asked, prompted)
	}
	longer := "# News\n\nThe museum is closed in May.\n\n" + filler + "\n\n" + text
	f.replace(id, longer)
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if asked, prompted := sees("guilders"); asked || prompted {
		t.Errorf("read again: asked %v, prompted %v", asked, prompted)
	}
	chunks, _, _ = f.ListChunks(t.Context(), f.ref, id, postgres.PageParams{})
	off := slices.DeleteFunc(slices.Clone(chunks), func(c knowledge.Chunk) bool { return !c.Disabled })
	if len(off) != 1 || !strings.Contains(off[0].Content, "guilders") {
		t.Fatalf("off are %+v", off)
	}
	other, err := f.workspaces.CreateTenant(t.Context(), "other", "large")
	if err != nil {
		t.Fatal(err)
	}
	theirs := workspaces.Ref{TenantID: other.Tenant.ID, ID: other.Workspace.ID}
	for _, bad := range []struct {
		ref   workspaces.Ref
		chunk knowledge.ChunkID
	}{{theirs, off[0].ID}, {f.ref, priced.ID}, {f.ref, "chk_x"}} {
		if _, err := f.SetChunkDisabled(t.Context(), bad.ref, id, bad.chunk, false); fault.From(err).Kind() != fault.NotFound {
			t.Errorf("%v: %v", bad, err)
		}
	}
	f.replace(id, "# Nothing\n\nClosed.\n")
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	f.replace(id, text) // what was off comes back, and is off
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if asked, prompted := sees("guilders"); asked || prompted {
		t.Errorf("back: asked %v, prompted %v", asked, prompted)
	}
	chunks, _, _ = f.ListChunks(t.Context(), f.ref, id, postgres.PageParams{})
	off = slices.DeleteFunc(slices.Clone(chunks), func(c knowledge.Chunk) bool { return !c.Disabled })
	if _, err := f.SetChunkDisabled(t.Context(), f.ref, id, off[0].ID, false); err != nil {
		t.Fatal(err)
	}
	if asked, prompted := sees("guilders"); !asked || !prompted {
		t.Errorf("on again: asked %v, prompted %v", asked, prompted)
	}
}
