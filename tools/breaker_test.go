package tools

import (
	"testing"
	"time"
)

func TestBreaker(t *testing.T) {
	t.Parallel()
	var b breaker
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fail := func() {
		t.Helper()
		if !b.allow("k", now) {
			t.Fatalf("refused at %s", now)
		}
		b.report("k", failing, now)
	}
	for range 4 {
		fail()
	}
	now = now.Add(61 * time.Second) // the four are too old to count with the next
	fail()
	if !b.allow("k", now) {
		t.Fatal("5 failures in more than 60 s open the circuit")
	}
	b.report("k", neutral, now)
	for range 4 {
		fail()
	}
	if b.allow("k", now.Add(29*time.Second)) {
		t.Fatal("5 failures in 60 s leave the circuit closed")
	}
	now = now.Add(30 * time.Second)
	if !b.allow("k", now) || b.allow("k", now) {
		t.Fatal("after 30 s there is not exactly one trial")
	}
	b.report("k", neutral, now) // the trial's caller gave up: the next call is the trial
	fail()
	if b.allow("k", now.Add(29*time.Second)) {
		t.Fatal("a failed trial closes the circuit")
	}
	now = now.Add(31 * time.Second)
	if !b.allow("k", now) {
		t.Fatal("no second trial")
	}
	b.report("k", healthy, now)
	for range 4 {
		fail()
	}
	if !b.allow("k", now) {
		t.Fatal("a healthy trial does not forget the failures")
	}
}
