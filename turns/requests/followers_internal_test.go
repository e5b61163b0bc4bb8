package requests

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/sessions"
)

// TestFollowersShareARow: followers that are woken together read the row of their turn once. An
// error is nobody else's, and a later change is read anew.
func TestFollowersShareARow(t *testing.T) {
	t.Parallel()
	f := newFollowers()
	woken := time.Now()
	var reads atomic.Int32
	find := func(context.Context) (sessions.Turn, error) {
		return sessions.Turn{Index: int(reads.Add(1))}, nil
	}
	now := func() time.Time { return woken.Add(time.Millisecond) }
	read := func(since time.Time) sessions.Turn {
		shared, _, leave := f.add("ses_1", "turn_1")
		defer leave()
		turn, err := shared.read(t.Context(), now, since, find)
		if err != nil {
			t.Error(err)
		}
		return turn
	}
	keep, _, leave := f.add("ses_1", "turn_1")
	defer leave()
	failed := errors.New("away")
	if _, err := keep.read(t.Context(), now, woken, func(context.Context) (sessions.Turn, error) {
		return sessions.Turn{}, failed
	}); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	var followers sync.WaitGroup
	for range MaxFollowers {
		followers.Go(func() {
			if turn := read(woken); turn.Index != 1 {
				t.Errorf("got read %d", turn.Index)
			}
		})
	}
	followers.Wait()
	if later := read(woken.Add(time.Second)); later.Index != 2 {
		t.Errorf("a later change: got read %d", later.Index)
	}
	other, _, leaveOther := f.add("ses_2", "turn_1")
	defer leaveOther()
	if other == keep {
		t.Error("a caller of another session shares the row")
	}
}
