package wire

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestStall has writes of ten seconds at most, on a clock of its own.
func TestStall(t *testing.T) {
	t.Parallel()
	const within = 10 * time.Second
	write := func(s *stall, took time.Duration) bool {
		s.begin(within)
		time.Sleep(took)
		return s.end()
	}
	rows := []struct {
		name string
		do   func(*testing.T, *stall)
		// closed is when the connection is closed; 0: never.
		closed time.Duration
	}{
		{"many that are quick, and rests", func(t *testing.T, s *stall) {
			for _, rest := range []time.Duration{0, 3 * time.Second, 9 * time.Second, 11 * time.Second, time.Minute, 0} {
				if !write(s, 9*time.Second) {
					t.Error("a write of 9 s was too late")
				}
				time.Sleep(rest)
			}
		}, 0},
		{"the first is slow", func(t *testing.T, s *stall) {
			if write(s, 11*time.Second) {
				t.Error("a write of 11 s was in time")
			}
		}, 10 * time.Second},
		{"a later one is", func(t *testing.T, s *stall) {
			if !write(s, 0) {
				t.Error("a write that took no time was too late")
			}
			time.Sleep(4 * time.Second)
			if write(s, time.Minute) {
				t.Error("a write of a minute was in time")
			}
		}, 14 * time.Second},
		{"one behind a long rest is", func(_ *testing.T, s *stall) {
			write(s, time.Second)
			time.Sleep(time.Hour)
			write(s, time.Minute)
		}, time.Hour + 11*time.Second},
		{"a close frame has less time", func(_ *testing.T, s *stall) {
			write(s, 0)
			time.Sleep(time.Second)
			s.last(5 * time.Second)
			time.Sleep(time.Hour)
		}, 6 * time.Second},
		{"stopped", func(_ *testing.T, s *stall) {
			write(s, 0)
			s.last(5 * time.Second)
			s.stop()
			time.Sleep(time.Minute)
		}, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun, closed := time.Now(), time.Duration(0)
				s := &stall{close: func() error { closed = time.Since(begun); return nil }}
				row.do(t, s)
				s.stop()
				synctest.Wait()
				if closed != row.closed {
					t.Errorf("closed after %s, want %s", closed, row.closed)
				}
			})
		})
	}
}
