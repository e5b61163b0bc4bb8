package breaker_test

import (
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestBreaker(t *testing.T) {
	t.Parallel()
	b := breaker.New(breaker.Options{})
	now := begin
	fail := func() {
		t.Helper()
		if b.Allow("k", now) == breaker.Refused {
			t.Fatalf("refused at %s", now)
		}
		b.Report("k", breaker.Failing, now)
	}
	for range 4 {
		fail()
	}
	now = now.Add(61 * time.Second) // the four are outside the window of the next
	fail()
	if b.Allow("k", now) != breaker.Admitted {
		t.Fatal("5 failures in more than 60 s open the circuit")
	}
	b.Report("k", breaker.Neutral, now)
	for range 4 {
		fail()
	}
	if b.Allow("k", now.Add(29*time.Second)) != breaker.Refused || b.Open(now.Add(29*time.Second)) != 1 {
		t.Fatal("5 failures in 60 s leave the circuit closed")
	}
	if wait := b.Wait("k", now.Add(10*time.Second)); wait != 20*time.Second {
		t.Errorf("wait %s, want 20s", wait)
	}
	refusal := b.Refusal("k", "acme", now.Add(10*time.Second+time.Millisecond))
	if refusal.Reason != fault.ServiceUnavailable || refusal.RetryAfter != 20*time.Second || !strings.Contains(refusal.Message, "acme") ||
		!strings.Contains(refusal.Message, "in 20 s") {
		t.Errorf("refusal %v, after %s", refusal, refusal.RetryAfter)
	}
	now = now.Add(30 * time.Second)
	if b.Allow("k", now) != breaker.Trial || b.Allow("k", now) != breaker.Refused {
		t.Fatal("after 30 s there is not exactly one trial")
	}
	b.Report("k", breaker.Neutral, now) // the caller gave up: the next call is the trial
	fail()
	if b.Allow("k", now.Add(29*time.Second)) != breaker.Refused {
		t.Fatal("a failed trial closes the circuit")
	}
	now = now.Add(31 * time.Second)
	if b.Allow("k", now) != breaker.Trial {
		t.Fatal("no second trial")
	}
	b.Report("k", breaker.Healthy, now)
	for range 4 {
		fail()
	}
	if b.Allow("k", now) != breaker.Admitted || b.Open(now) != 0 {
		t.Fatal("a healthy trial does not forget the failures")
	}
}

// TestConsecutive: failures with healthy calls between them do not open the
// circuit.
func TestConsecutive(t *testing.T) {
	t.Parallel()
	b := breaker.New(breaker.Options{Failures: 3, Pause: time.Second})
	for range 10 {
		b.Report("k", breaker.Failing, begin)
		b.Report("k", breaker.Failing, begin)
		b.Report("k", breaker.Healthy, begin)
	}
	if b.Allow("k", begin) != breaker.Admitted {
		t.Fatal("failures with healthy calls between them opened the circuit")
	}
	var opened []bool
	for range 4 {
		opened = append(opened, b.Report("k", breaker.Failing, begin))
	}
	if opened[0] || opened[1] || !opened[2] || opened[3] {
		t.Errorf("opened at %v, want at the third failure only", opened)
	}
	b.Report("k", breaker.Healthy, begin) // the result of an earlier call does not close an open circuit
	if b.Allow("k", begin) != breaker.Refused || b.Allow("other", begin) != breaker.Admitted {
		t.Error("the circuit is not open, or another one is")
	}
}

// TestShare: with MinCalls a circuit opens when half of the calls in the window failed.
func TestShare(t *testing.T) {
	t.Parallel()
	b := breaker.New(breaker.Options{MinCalls: 10})
	now := begin
	report := func(calls int, r breaker.Result) (opened bool) {
		for range calls {
			now = now.Add(time.Second)
			opened = b.Report("k", r, now)
		}
		return opened
	}
	if report(5, breaker.Healthy) || report(4, breaker.Failing) {
		t.Fatal("nine calls open the circuit")
	}
	if !report(1, breaker.Failing) || b.Allow("k", now) != breaker.Refused || b.Open(now) != 1 {
		t.Fatal("half of ten calls do not open the circuit")
	}
	report(20, breaker.Healthy) // the results of earlier calls do not close an open circuit
	now = now.Add(30 * time.Second)
	if b.Allow("k", now) != breaker.Trial || report(1, breaker.Healthy) || b.Allow("k", now) != breaker.Admitted {
		t.Fatal("a healthy trial does not close the circuit")
	}
	report(6, breaker.Healthy)
	now = now.Add(time.Minute) // they are outside the window of the next
	if report(9, breaker.Failing) || !report(1, breaker.Failing) {
		t.Error("ten failures after a minute do not open the circuit, or nine do")
	}
}
