package live_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/turns"
)

// TestPastIsReadOnce: what was said in earlier turns is read from Postgres again only when it was changed there, or the
// turn is another node's; the model sees what is there now.
func TestPastIsReadOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{say("Rubies."), say("Sapphires."), say("Opals."), say("Pearls."), say("Agates."), say("Jades.")}}
	f.model = answers
	f.passages.passages = refunds()
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	id := made.Session.ID
	s := f.join(t, r.Node, made)
	// ask says something, and whether Postgres sent words for it, and the model saw them, one for each turn before.
	ask := func(text string, words ...string) (sent, seen string) {
		t.Helper()
		r.wire.readFrom()
		if done, _ := talk(s, text); done.Status != turns.ResponseCompleted {
			t.Fatalf("%s: %+v", text, done)
		}
		read, asked := r.wire.readFrom(), answers.requests()
		said := fmt.Sprint(asked[len(asked)-1].Messages)
		for _, word := range words {
			if bytes.Contains(read, []byte(word)) {
				sent += word + " "
			}
			if strings.Contains(said, word) {
				seen += word + " "
			}
		}
		return sent, seen
	}
	change := func(sql string, args ...any) {
		t.Helper()
		if _, err := f.db.ExecContext(t.Context(), sql, append(args, f.ref.TenantID, id)...); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, sent, seen, wantSent, wantSeen string) {
		t.Helper()
		if sent != wantSent || seen != wantSeen {
			t.Errorf("%s: Postgres sent %q, want %q; the model saw %q, want %q", what, sent, wantSent, seen, wantSeen)
		}
	}
	ask("one")
	sent, seen := ask("two", "one", "Rubies")
	check("two", sent, seen, "", "one Rubies ")
	sent, seen = ask("three", "one", "Rubies", "two", "Sapphires")
	check("three", sent, seen, "", "one Rubies two Sapphires ")

	// Somebody changes the first turn, and another node, without a socket here, takes one.
	change(`UPDATE turns SET messages = replace(messages::text, 'Rubies', 'Corals')::json WHERE index = 0 AND tenant_id = ? AND session_id = ?`)
	f.turn(t, id, "elsewhere")
	words := []string{"one", "Rubies", "Corals", "two", "Sapphires", "three", "Opals", "elsewhere", "Pearls"}
	sent, seen = ask("five", words...)
	check("five", sent, seen, "one Corals elsewhere Pearls ", "one Corals two Sapphires three Opals elsewhere Pearls ")
	change(`UPDATE turns SET feedback = 'like' WHERE index = 1 AND tenant_id = ? AND session_id = ?`)
	change(`DELETE FROM turns WHERE index = 2 AND tenant_id = ? AND session_id = ?`)
	sent, seen = ask("six", append(words, "five", "Agates")...)
	check("six", sent, seen, "two Sapphires ", "one Corals two Sapphires elsewhere Pearls five Agates ")

	// In a long conversation all that is remembered comes from memory, in one question.
	answers.mu.Lock()
	for range 80 {
		answers.steps = append(answers.steps, say("Beryls."))
	}
	answers.mu.Unlock()
	for i := range 79 {
		talk(s, fmt.Sprintf("garnet %d", i))
	}
	sent, seen = ask("and?", "garnet 0", "garnet 1", "garnet 50", "garnet 77", "garnet 78", "Beryls")
	check("and?", sent, seen, "", "garnet 0 garnet 1 garnet 50 garnet 77 garnet 78 Beryls ")
}
