package memory_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/memory"
)

// find are the texts that a node finds.
func find(t testing.TB, f *fixture, node *memory.Service, user, query string) []string {
	t.Helper()
	found, err := node.Search(t.Context(), f.ref, user, query, 20)
	if err != nil {
		t.Error(err)
	}
	texts := make([]string, len(found))
	for i, one := range found {
		texts[i] = one.Text
	}
	return texts
}

// TestSearchOnEveryNode: what one node writes, corrects, forgets or embeds later, another one that
// has read the user's codes finds, or finds no more, in its next search; also when it can keep
// none.
func TestSearchOnEveryNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nodes := map[string]*memory.Service{"another": f.node(memory.Deps{}), "itself": f.Service}
	sees := func(when, query, want string, there bool) {
		t.Helper()
		for name, node := range nodes {
			if got := find(t, f, node, "u", query); slices.Contains(got, want) != there {
				t.Errorf("%s: %s finds %q", when, name, got)
			}
		}
	}
	f.note(t, "u", "Owns a green bicycle.")
	f.note(t, "someone else", "Owns a violet teapot, and not u.")
	sees("at first", "bicycle", "Owns a green bicycle.", true)
	teapot := f.note(t, "u", "Owns a violet teapot.")
	sees("written", "teapot", "Owns a violet teapot.", true)
	kettle := "Owns a copper kettle."
	if _, err := f.Update(t.Context(), f.ref, "u", teapot.ID, memory.UpdateParams{Text: &kettle}); err != nil {
		t.Fatal(err)
	}
	sees("corrected", "kettle", kettle, true)
	sees("corrected", "teapot", "Owns a violet teapot.", false)
	if _, err := f.Delete(t.Context(), f.ref, "u", teapot.ID); err != nil {
		t.Fatal(err)
	}
	sees("forgotten", "kettle", kettle, false)
	f.embedder.set(true)
	f.note(t, "u", "Plays the trombone.")
	f.embedder.set(false)
	sees("without a vector", "trombone", "Plays the trombone.", true)
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	sees("embedded later", "trombone", "Plays the trombone.", true)
	for _, forget := range []func() error{
		func() error { _, err := f.DeleteAll(t.Context(), f.ref, "u"); return err },
		func() error {
			return f.db.RunInTx(t.Context(), nil, func(_ context.Context, tx bun.Tx) error { return f.Erase(t.Context(), tx, f.ref, "u") })
		},
	} {
		if err := forget(); err != nil {
			t.Fatal(err)
		}
		sees("all forgotten", "bicycle trombone", "Owns a green bicycle.", false)
		f.note(t, "u", "Owns a green bicycle.")
		sees("told again", "bicycle", "Owns a green bicycle.", true)
	}
	sees("whosever", "violet teapot", "Owns a violet teapot, and not u.", false)
}

// TestForgottenTakeNoPlaces: when all that a node would compare is gone, what is left is found.
func TestForgottenTakeNoPlaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	node := f.node(memory.Deps{})
	var near []memory.ID
	for i := range 105 {
		near = append(near, f.note(t, "u", fmt.Sprint("green lamp number ", i)).ID)
	}
	f.note(t, "u", "Once saw a lamp in a museum of the navy, with a friend from school.")
	if got := find(t, f, node, "u", "green lamp"); len(got) != 20 {
		t.Fatalf("found %q", got)
	}
	if _, err := f.Delete(t.Context(), f.ref, "u", near...); err != nil {
		t.Fatal(err)
	}
	if got := find(t, f, node, "u", "green lamp"); len(got) != 1 {
		t.Errorf("found %q, want what is left", got)
	}
}

// TestSearchWhileWriting: who has written something finds it, however many write and search on the
// same node.
func TestSearchWhileWriting(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nodes := []*memory.Service{f.Service, f.node(memory.Deps{})}
	var group sync.WaitGroup
	for session := range 6 {
		group.Go(func() {
			for i := range 8 {
				text := fmt.Sprintf("Note %c%c of session%d.", 'a'+session, 'a'+i, session)
				if _, err := nodes[session%2].Add(t.Context(), f.ref, memory.AddParams{UserID: "u", Text: text}); err != nil {
					t.Error(err)
				}
				for _, node := range nodes {
					if got := find(t, f, node, "u", text); !slices.Contains(got, text) {
						t.Errorf("%q is not among %q", text, got)
					}
				}
			}
		})
	}
	group.Wait()
}
