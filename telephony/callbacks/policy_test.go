package callbacks_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/telephony/callbacks"
)

// move plans a callback for another time.
func (f *fixture) move(t testing.TB, id callbacks.ID, at time.Time) {
	t.Helper()
	if _, err := f.Update(t.Context(), f.ref, id, callbacks.UpdateParams{At: new(at.Format(time.RFC3339))}); err != nil {
		t.Fatal(err)
	}
}

// TestMovedAfterMissed: of two callbacks of a user that were missed and then moved, neither waits
// for the other, which is planned for later.
func TestMovedAfterMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	day := 24 * time.Hour
	miss := func(id callbacks.ID) {
		t.Helper()
		f.work(t)
		f.want(t, id, callbacks.Dialing, "")
		f.status(t, id, carrier.NoAnswer)
	}
	first, second := f.plan(t, "u", "now"), f.plan(t, "u", noon.Add(day).Format(time.RFC3339))
	miss(first.ID)
	f.move(t, first.ID, noon.Add(2*day))
	f.clock.set(noon.Add(day))
	miss(second.ID)
	f.move(t, second.ID, noon.Add(2*day+4*time.Hour)) // the interval after the first
	for _, id := range []callbacks.ID{first.ID, second.ID} {
		f.clock.set(f.get(t, id).DueAt.Add(time.Second)) // a worker is never there on time
		f.work(t)
		f.want(t, id, callbacks.Dialing, "")
	}
}
