package postgres_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
)

// TestClock sets the clock of the machine, and compares the corrected one with that of Postgres.
func TestClock(t *testing.T) {
	t.Parallel()
	db := pgtest.Open(t)
	ahead := time.Duration(0)
	machine := func() time.Time { return time.Now().Add(ahead) }
	clock := postgres.NewClock(db, machine)
	for _, row := range []struct {
		name      string
		ahead     time.Duration
		corrected bool
	}{
		{"Right", 0, false},
		{"Ahead", time.Hour, true},
		{"Behind", -10 * time.Minute, true},
		{"ABitBehind", -10*time.Minute + 300*time.Millisecond, false},
		{"RightAgain", 0, true},
	} {
		ahead = row.ahead
		changed, err := clock.Adjust(t.Context())
		if err != nil || (changed != 0) != row.corrected {
			t.Errorf("%s: the correction changed by %s, %v", row.name, changed, err)
		}
		before, began := clock.Now(), machine()
		theirs, err := postgres.Now(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		took := machine().Sub(began)
		if off := theirs.Sub(before); off.Abs() > took+time.Second {
			t.Errorf("%s: the clock is %s behind that of Postgres, asked in %s", row.name, off, took)
		}
	}
}
