package webhooks

import (
	"net/http"
	"testing"
	"time"
)

func TestDefaultPolicy(t *testing.T) {
	t.Parallel()
	p := Policy{}.withDefaults()
	if len(p.Schedule) != 11 || p.Timeout != 15*time.Second || p.DisableFailures != 10 {
		t.Fatalf("policy: %+v", p)
	}
	var whole time.Duration
	for _, pause := range p.Schedule {
		whole += pause
	}
	if whole.Round(time.Hour) != 69*time.Hour {
		t.Errorf("the schedule takes %v, want 69 h", whole)
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	p := Policy{}.withDefaults()
	for _, one := range []struct {
		name       string
		attempt    int
		retryAfter time.Duration
		chance     float64
		want       time.Duration
		ok         bool
	}{
		{"Least", 1, 0, 0, 4 * time.Second, true},
		{"Middle", 1, 0, 0.5, 5 * time.Second, true},
		{"Most", 2, 0, 1, 36 * time.Second, true},
		{"RetryAfterLonger", 1, time.Minute, 0, time.Minute, true},
		{"RetryAfterShorter", 3, time.Second, 0.5, 2 * time.Minute, true},
		{"RetryAfterTooLong", 1, 48 * time.Hour, 0, time.Hour, true},
		{"BeforeLast", 10, 0, 0.5, 24 * time.Hour, true},
		{"Last", 11, time.Minute, 0.5, 0, false},
		{"Beyond", 12, 0, 0.5, 0, false},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			got, ok := p.pause(one.attempt, one.retryAfter, one.chance)
			if got.Round(time.Millisecond) != one.want || ok != one.ok {
				t.Errorf("got %v %v, want %v %v", got, ok, one.want, one.ok)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-5": 0, "soon": 0, "99999999999999999": time.Hour, "99999999999999999999": time.Hour,
		"-99999999999999999999": 0, "86400": time.Hour,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]verdict{
		200: verdictSucceeded, 204: verdictSucceeded, 299: verdictSucceeded, 301: verdictFinal, 304: verdictFinal, 400: verdictFinal,
		401: verdictFinal, 404: verdictFinal, 408: verdictRetry, 409: verdictFinal, 410: verdictGone, 425: verdictRetry, 429: verdictRetry,
		500: verdictRetry, 501: verdictRetry, 599: verdictRetry, 0: verdictRetry, 101: verdictRetry,
	} {
		if got, _ := judge(status); got != want {
			t.Errorf("%d: got %d, want %d", status, got, want)
		}
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	var due []Due
	for id := range int64(40) {
		due = append(due, Due{ID: 40 - id, EndpointID: "we_b"})
	}
	due = append(due, Due{ID: 99, EndpointID: "we_a", Attempt: 1})
	got := Batches(due)
	if len(got) != 3 || got[1].EndpointID != "we_a" || len(got[0].IDs) != MaxBatch || got[0].IDs[0] != 1 || len(got[2].IDs) != 8 {
		t.Fatalf("batches: %+v", got)
	}
	retried := Batches([]Due{{ID: 99, EndpointID: "we_a", Attempt: 2}})
	if got[1].Name == retried[0].Name || got[1].Name != Batches([]Due{{ID: 99, EndpointID: "we_a", Attempt: 1}})[0].Name {
		t.Errorf("names: %q at one attempt, %q at another", got[1].Name, retried[0].Name)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	if got := text([]byte("a\x00b\xffc\xe2\x82")); got != "a\uFFFDb\uFFFDc\uFFFD" {
		t.Errorf("got %q", got)
	}
}
