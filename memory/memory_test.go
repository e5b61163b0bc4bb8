package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

func wantFault(t *testing.T, err error, reason fault.Reason) {
	t.Helper()
	if !fault.IsReason(err, reason) {
		t.Errorf("got %v, want %s", err, reason)
	}
}

// TestStatements: what says the same is one, what contradicts takes the place of what it
// contradicts.
func TestStatements(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rows := []struct {
		first, then string
		want        memory.Outcome
	}{
		{"My name is Ada.", "my name is ADA!", memory.Renewed},
		{"My name is Ada.", "The user's name is Grace", memory.Replaced},
		{"Call me Ada", "I am called Bob", memory.Replaced},
		{"I prefer mornings", "The user prefers mornings.", memory.Renewed},
		{"I prefer mornings", "I like evenings", memory.Replaced},
		{"I like coffee", "I don't like coffee", memory.Replaced},
		{"I prefer tea over coffee", "I prefer coffee over tea", memory.Replaced},
		{"My phone number is 1234567", "My phone number is 7654321", memory.Replaced},
		{"My favourite colour is red", "my favourite colour is blue", memory.Replaced},
		{"I have a dog", "I love dogs", memory.Added},
		{"I am allergic to peanuts", "I am allergic to walnuts", memory.Added},
		{"I prefer coffee in the morning", "I prefer mornings", memory.Added},
		{"Call me back", "Call me Ada", memory.Added},
		{"Mir ist kalt", "Mir ist warm", memory.Added},
	}
	for i, row := range rows {
		user := fmt.Sprint("user", i)
		first := f.state(t, user, row.first)
		then := f.state(t, user, row.then)
		if first.Outcome != memory.Added || then.Outcome != row.want {
			t.Errorf("%q then %q: %s, want %s", row.first, row.then, then.Outcome, row.want)
		}
		want := map[memory.Outcome][]string{
			memory.Added: {row.then, row.first}, memory.Replaced: {row.then}, memory.Renewed: {row.first},
		}[row.want]
		if diff := cmp.Diff(f.texts(t, f.ref, user, ""), want); diff != "" {
			t.Errorf("%q then %q (-got +want):\n%s", row.first, row.then, diff)
		}
		if row.want != memory.Replaced {
			continue
		}
		before, err := f.Get(t.Context(), f.ref, user, first.ID)
		if err != nil || before.Status != memory.Superseded || before.SupersededBy != then.ID || then.Before != row.first {
			t.Errorf("%q then %q: history %+v, %v", row.first, row.then, before, err)
		}
	}
	// An attribute that the model names counts, whatever the words are.
	for i, text := range []string{"Vegetarian since 2020.", "Eats meat again."} {
		kept, err := f.Add(
			t.Context(), f.ref, memory.AddParams{UserID: "eater", Kind: memory.Statement, Text: text, Category: "Preferences", Attribute: "diet"},
		)
		if err != nil || (i == 1) != (kept.Outcome == memory.Replaced) {
			t.Errorf("%q: %s, %v", text, kept.Outcome, err)
		}
	}
}

// TestNotes: equal notes are one; what is too long, too much or nothing is refused.
func TestNotes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.note(t, "u", "Ordered a lamp on Monday.")
	if again := f.note(t, "u", "ordered a lamp on monday"); again.Outcome != memory.Renewed || again.ID != first.ID {
		t.Errorf("again: %+v", again)
	}
	small := f.node(memory.Deps{MaxPerUser: 2})
	if _, err := small.Add(t.Context(), f.ref, memory.AddParams{UserID: "u", Text: "Wants a receipt."}); err != nil {
		t.Fatal(err)
	}
	_, err := small.Add(t.Context(), f.ref, memory.AddParams{UserID: "u", Text: "One too many."})
	wantFault(t, err, fault.MemoryFull)
	if _, err := small.Add(t.Context(), f.ref, memory.AddParams{UserID: "u", Text: "wants a receipt"}); err != nil {
		t.Errorf("a note that is there when it is full: %v", err)
	}
	if _, err := small.Delete(t.Context(), f.ref, "u", first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := small.Add(t.Context(), f.ref, memory.AddParams{UserID: "u", Text: "One that fits."}); err != nil {
		t.Errorf("after forgetting: %v", err)
	}
	bad := map[string]memory.AddParams{
		"no words":     {UserID: "u", Text: "  "},
		"no user":      {Text: "x"},
		"long user":    {UserID: strings.Repeat("u", 257), Text: "x"},
		"long note":    {UserID: "u", Text: strings.Repeat("x", 2001)},
		"long claim":   {UserID: "u", Kind: memory.Statement, Text: strings.Repeat("x", 1001)},
		"tags":         {UserID: "u", Text: "x", Tags: make([]string, 11)},
		"kind":         {UserID: "u", Text: "x", Kind: "wish"},
		"confidence":   {UserID: "u", Text: "x", Confidence: 1.5},
		"expired":      {UserID: "u", Text: "x", ExpiresAt: f.clock.now().Add(-time.Minute)},
		"NUL":          {UserID: "u", Text: "x\x00y"},
		"long topic":   {UserID: "u", Text: "x", Category: strings.Repeat("c", 51)},
		"half a rune":  {UserID: "u", Text: "x\xff"},
		"user of NULs": {UserID: "u\x00", Text: "x"},
	}
	for name, p := range bad {
		if _, err := f.Add(t.Context(), f.ref, p); !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTwoSessionsAtOnce: nothing is lost or doubled, whoever comes first.
func TestTwoSessionsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(memory.Deps{})
	const each = 12
	var group sync.WaitGroup
	for session := range 4 {
		service := f.Service
		if session%2 == 1 {
			service = other
		}
		group.Go(func() {
			for i := range each {
				for _, p := range []memory.AddParams{
					{UserID: "u", Text: fmt.Sprintf("All sessions note fact number %d.", i)},
					{UserID: "u", Text: fmt.Sprintf("Session %d alone notes fact number %d.", session, i)},
					{UserID: "u", Kind: memory.Statement, Text: fmt.Sprintf("My name is Name%d%d", session, i)},
				} {
					if _, err := service.Add(t.Context(), f.ref, p); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	want := []string{}
	for i := range each {
		want = append(want, fmt.Sprintf("All sessions note fact number %d.", i))
		for session := range 4 {
			want = append(want, fmt.Sprintf("Session %d alone notes fact number %d.", session, i))
		}
	}
	got, names := []string{}, 0
	for _, text := range f.texts(t, f.ref, "u", memory.Active) {
		if strings.HasPrefix(text, "My name") {
			names++
			continue
		}
		got = append(got, text)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(got, want); diff != "" || names != 1 {
		t.Errorf("%d names; notes (-got +want):\n%s", names, diff)
	}
	if user, err := f.User(t.Context(), f.ref, "u"); err != nil || user.Memories != len(want)+1 {
		t.Errorf("counted %d, want %d (%v)", user.Memories, len(want)+1, err)
	}
	if history := f.texts(t, f.ref, "u", memory.Superseded); len(history) != 10 {
		t.Errorf("%d names are history, want 10", len(history))
	}
}

// TestOwner: what an operator may do with a memory.
func TestOwner(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := f.state(t, "u", "My name is Ada")
	name := f.state(t, "u", "My name is Bob")
	tea := f.state(t, "u", "I like tea")
	corrected, err := f.Update(t.Context(), f.ref, "u", name.ID, memory.UpdateParams{Text: new("My name is Carol"), Confidence: new(0.5)})
	if err != nil || corrected.Text != "My name is Carol" || corrected.Confidence != 0.5 || corrected.Category != "identity" {
		t.Errorf("corrected: %+v, %v", corrected, err)
	}
	if found, err := f.Search(t.Context(), f.ref, "u", "carol", 1); err != nil || len(found) != 1 || found[0].ID != name.ID {
		t.Errorf("what was corrected is not found by its new words: %v, %v", found, err)
	}
	_, err = f.Update(t.Context(), f.ref, "u", tea.ID, memory.UpdateParams{Text: new("My name is Dora")})
	wantFault(t, err, fault.NameTaken)
	_, err = f.Update(t.Context(), f.ref, "u", old.ID, memory.UpdateParams{Text: new("x")})
	wantFault(t, err, fault.InvalidRequest)
	_, err = f.Update(t.Context(), f.ref, "u", tea.ID, memory.UpdateParams{Text: new(" ")})
	wantFault(t, err, fault.InvalidRequest)

	pending, err := f.Add(t.Context(), f.ref, memory.AddParams{UserID: "u", Kind: memory.Statement, Text: "My name is Eve", Pending: true})
	if err != nil || pending.Status != memory.Pending {
		t.Fatalf("%+v, %v", pending, err)
	}
	if recalled, err := f.Recall(t.Context(), f.ref, "u", 0); err != nil || len(recalled.Items) != 2 ||
		recalled.Items[0].Text == "My name is Eve" {
		t.Errorf("before it is approved: %+v, %v", recalled, err)
	}
	if approved, err := f.Approve(t.Context(), f.ref, "u", pending.ID); err != nil || approved.Status != memory.Active {
		t.Errorf("approved: %+v, %v", approved, err)
	}
	if diff := cmp.Diff(f.texts(t, f.ref, "u", memory.Active), []string{"My name is Eve", "I like tea"}); diff != "" {
		t.Errorf("after approving (-got +want):\n%s", diff)
	}
	// What is deleted takes its history along.
	if deleted, err := f.Delete(t.Context(), f.ref, "u", pending.ID); err != nil || len(deleted) != 3 {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	if rest := append(f.texts(t, f.ref, "u", memory.Superseded), f.texts(t, f.ref, "u", "")...); len(rest) != 1 {
		t.Errorf("left: %q", rest)
	}
	_, err = f.Get(t.Context(), f.ref, "u", old.ID)
	wantFault(t, err, fault.ResourceNotFound)
	if count, err := f.DeleteAll(t.Context(), f.ref, "u"); err != nil || count != 1 {
		t.Errorf("deleted all: %d, %v", count, err)
	}
	if user, err := f.User(t.Context(), f.ref, "u"); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("a user of whom there is nothing: %+v, %v", user, err)
	}
	for _, err := range []error{
		func() error {
			_, err := f.Approve(t.Context(), f.ref, "u", memory.ID(idgen.New(idgen.Memory)))
			return err
		}(),
		func() error { _, err := f.Get(t.Context(), f.ref, "u", "mem_nonsense"); return err }(),
	} {
		wantFault(t, err, fault.ResourceNotFound)
	}
}

// TestLookAlikes: users whose ids look alike, and those of other workspaces and tenants, share
// nothing.
func TestLookAlikes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.tenant(t)
	second, err := f.workspaces.CreateWorkspace(
		t.Context(), workspaces.Principal{TenantID: f.ref.TenantID, Scope: workspaces.ScopeAdmin}, "Second",
	)
	if err != nil {
		t.Fatal(err)
	}
	secret := f.state(t, "zoë@example.com", "My name is Zoë and my code is swordfish")
	if _, err := f.Add(t.Context(), other, memory.AddParams{UserID: "zoë@example.com", Text: "Another tenant's."}); err != nil {
		t.Fatal(err)
	}
	alike := []string{
		"Zoë@example.com", "zoë@example.com ", " zoë@example.com", "zoe\u0308@example.com", "zoe@example.com", "zoë@example.com\u200b",
		"zoë@example.com\n", "zoë@example.com%", "zoë@example.co_", "%", "_________________",
		"zoë@example.com' OR '1'='1", "zоë@example.com", "zoë@example.com/../zoë@example.com",
	}
	for _, user := range alike {
		f.note(t, user, "I am "+user)
		if found, err := f.Search(t.Context(), f.ref, user, "name code swordfish", 20); err != nil ||
			slices.ContainsFunc(found, func(one memory.Found) bool { return one.UserID != user }) {
			t.Errorf("%q finds %v, %v", user, found, err)
		}
		if texts := f.texts(t, f.ref, user, ""); len(texts) != 1 {
			t.Errorf("%q has %q", user, texts)
		}
		if deleted, err := f.Delete(t.Context(), f.ref, user, secret.ID); err != nil || len(deleted) != 0 {
			t.Errorf("%q deletes %v, %v", user, deleted, err)
		}
		_, err := f.Get(t.Context(), f.ref, user, secret.ID)
		wantFault(t, err, fault.ResourceNotFound)
		if count, err := f.DeleteAll(t.Context(), f.ref, user); err != nil || count != 1 {
			t.Errorf("%q deletes all %d, %v", user, count, err)
		}
	}
	beside := workspaces.Ref{TenantID: f.ref.TenantID, ID: second.ID}
	if texts := f.texts(t, beside, "zoë@example.com", ""); len(texts) != 0 {
		t.Errorf("the workspace beside: %q", texts)
	}
	if recalled, err := f.Recall(t.Context(), beside, "zoë@example.com", 0); err != nil || len(recalled.Items) != 0 {
		t.Errorf("the workspace beside recalls: %v, %v", recalled, err)
	}
	if texts := f.texts(t, f.ref, "zoë@example.com", ""); len(texts) != 1 {
		t.Errorf("left: %q", texts)
	}
	if texts := f.texts(t, other, "zoë@example.com", ""); len(texts) != 1 {
		t.Errorf("another tenant's: %q", texts)
	}
}

// TestUsers: a user who has a session or a memory is listed once, in the order of ids, with what
// there is.
func TestUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := strings.Repeat("\u0001", 256)
	ids := []string{long, "B", "a", "a ", "a%", "ab", "b", "é"}
	for _, id := range ids {
		f.note(t, id, "Something.")
	}
	if _, err := f.DeleteAll(t.Context(), f.ref, "never"); err != nil {
		t.Fatal(err)
	}
	var got []string
	token := ""
	for {
		users, next, err := f.Users(t.Context(), f.ref, "", postgres.PageParams{Size: 1, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, user := range users {
			got = append(got, user.UserID)
			if user.Memories != 1 || user.Sessions != 0 || user.FirstSeenAt.IsZero() || user.LastSeenAt.IsZero() {
				t.Errorf("%+v", user)
			}
		}
		if token = next; token == "" {
			break
		}
	}
	if diff := cmp.Diff(got, ids); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	users, _, err := f.Users(t.Context(), f.ref, "a", postgres.PageParams{})
	if err != nil || len(users) != 4 || users[0].UserID != "a" {
		t.Errorf("by prefix: %v, %v", users, err)
	}
	if users, _, err := f.Users(t.Context(), f.tenant(t), "", postgres.PageParams{}); err != nil || len(users) != 0 {
		t.Errorf("of another: %v, %v", users, err)
	}
}
