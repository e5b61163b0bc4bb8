package tools_test

import (
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/port"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// breakerFixture calls tools in a session, at a time that the test decides.
type breakerFixture struct {
	*fixture
	node  *tools.Service
	later atomic.Int64
}

func newBreakerFixture(t *testing.T) *breakerFixture {
	t.Helper()
	f := &breakerFixture{fixture: newFixture(t)}
	f.deps.Now = func() time.Time { return time.Now().Add(time.Duration(f.later.Load())) }
	f.node = f.fixture.node(0)
	return f
}

// tool makes a tool, attached with a cap that no test reaches.
func (f *breakerFixture) tool(t *testing.T, slug, url string) tools.Entry {
	t.Helper()
	params := f.orderParams("")
	params.Slug, params.Config.WebhookURL = slug, url
	return f.attached(t, f.create(t, params), 1000)
}

func (f *breakerFixture) want(t *testing.T, what string, entry tools.Entry, code tools.Code) {
	t.Helper()
	outcome := f.node.Call(t.Context(), tools.CallParams{Ref: f.ref, SessionID: "ses_1", Entry: entry})
	got := tools.Code("")
	if outcome.Error != nil {
		got = outcome.Error.Code
	}
	if got != code {
		t.Fatalf("%s: got %q, want %q", what, got, code)
	}
}

// TestBreakerOfATool: the circuit of one tool opens when half of its calls failed; the other tools
// of the host are called as before, and a good trial closes the circuit.
func TestBreakerOfATool(t *testing.T) {
	t.Parallel()
	f := newBreakerFixture(t)
	bad, fine := f.tool(t, "bad", f.endpoint.URL+"/bad"), f.tool(t, "fine", f.endpoint.URL+"/fine")
	for range 40 {
		f.want(t, "a good call", bad, "")
	}
	f.endpoint.Script("/bad", httptool.Step{Status: 500})
	for range 39 {
		f.want(t, "fewer than half", bad, failure.HTTPStatus)
	}
	f.later.Store(int64(62 * time.Second)) // those before do not count any more
	for range 10 {
		f.want(t, "fewer than ten calls", bad, failure.HTTPStatus)
	}
	f.want(t, "after ten failures", bad, failure.CircuitOpen)
	f.want(t, "another tool of the host", fine, "")
	f.later.Store(int64(91 * time.Second))
	f.want(t, "after 29 s", bad, failure.CircuitOpen)
	f.later.Store(int64(93 * time.Second))
	f.want(t, "a bad trial", bad, failure.HTTPStatus)
	f.want(t, "after a bad trial", bad, failure.CircuitOpen)
	f.endpoint.Script("/bad", httptool.Step{Body: "ok"})
	f.later.Store(int64(124 * time.Second))
	f.want(t, "a good trial", bad, "")
	f.want(t, "after a good trial", bad, "")
	if n := len(f.endpoint.Requests("/bad")); n != 92 {
		t.Errorf("%d requests arrived, want 92: refused calls are not sent", n)
	}
	var counted int
	if err := f.db.NewRaw("SELECT max(calls) FROM tool_call_counts").Scan(t.Context(), &counted); err != nil || counted != 92 {
		t.Errorf("%d calls counted, %v: a refused call costs nothing", counted, err)
	}
}

// TestBreakerOfAHost: five failed connections in a row close a host to all tools of the tenant.
func TestBreakerOfAHost(t *testing.T) {
	t.Parallel()
	f := newBreakerFixture(t)
	f.endpoint.Script("/gone", httptool.Step{Reset: true})
	gone, fine := f.tool(t, "gone", f.endpoint.URL+"/gone"), f.tool(t, "fine", f.endpoint.URL+"/fine")
	for range 4 {
		f.want(t, "a broken connection", gone, failure.ConnectionFailed)
	}
	f.want(t, "a good call in between", fine, "")
	for range 5 {
		f.want(t, "a broken connection", gone, failure.ConnectionFailed)
	}
	f.want(t, "another tool of the host", fine, failure.CircuitOpen)
	f.want(t, "a tool of another host", f.tool(t, "other", httptool.New(t).URL+"/other"), "")
	ref := f.tenant(t, "pro")
	outcome := f.node.Call(t.Context(), tools.CallParams{Ref: ref, SessionID: "ses_2", Entry: f.foreignEntry(t, ref, "/fine")})
	if outcome.Error != nil {
		t.Errorf("another tenant: %+v", outcome.Error)
	}
	f.later.Store(int64(31 * time.Second))
	f.want(t, "the trial", fine, "")
	f.want(t, "after the trial", fine, "")
}

// TestBreakerAndRuns: a person who tries a tool neither opens a circuit nor is refused by one.
func TestBreakerAndRuns(t *testing.T) {
	t.Parallel()
	f := newBreakerFixture(t)
	dead := f.tool(t, "dead", "http://"+port.Reserve(t)+"/")
	run := func() tools.Code {
		t.Helper()
		outcome, err := f.node.Run(t.Context(), f.ref, tools.RunParams{ToolID: dead.Tool.ID})
		if err != nil || outcome.Error == nil {
			t.Fatalf("got %+v, %v", outcome, err)
		}
		return outcome.Error.Code
	}
	for range 12 {
		run()
	}
	for range 5 {
		f.want(t, "a call of a session", dead, failure.ConnectionFailed)
	}
	f.want(t, "the sixth", dead, failure.CircuitOpen)
	if code := run(); code != failure.ConnectionFailed {
		t.Errorf("a run while the circuit is open: %s", code)
	}
}

// TestRulesOfATool: a tool may have a rule of its own for its breaker, or none, and for retries.
func TestRulesOfATool(t *testing.T) {
	t.Parallel()
	f := newBreakerFixture(t)
	add := func(slug string, change func(*tools.Config)) tools.Entry {
		t.Helper()
		f.endpoint.Script("/"+slug, httptool.Step{Status: 500})
		params := f.orderParams("/" + slug)
		params.Slug, params.Config.Method = slug, "GET"
		change(&params.Config)
		return f.attached(t, f.create(t, params), 0)
	}
	soon := add("soon", func(c *tools.Config) {
		c.Breaker = &tools.Breaker{MinCalls: 2, FailureRatio: 1, PauseSeconds: 300}
	})
	never := add("never", func(c *tools.Config) { c.Breaker = &tools.Breaker{Disabled: true} })
	for range 2 {
		f.want(t, "a failure", soon, failure.HTTPStatus)
	}
	f.want(t, "the third", soon, failure.CircuitOpen)
	f.later.Store(int64(299 * time.Second))
	f.want(t, "within the pause", soon, failure.CircuitOpen)
	f.later.Store(int64(301 * time.Second))
	f.want(t, "the trial", soon, failure.HTTPStatus)
	for range 12 {
		f.want(t, "without a breaker", never, failure.HTTPStatus)
	}
	for slug, row := range map[string]struct {
		retry *tools.Retry
		want  int
	}{
		"five": {&tools.Retry{MaxAttempts: 5, Statuses: []int{500}}, 5}, "once": {&tools.Retry{MaxAttempts: 1, Statuses: []int{500}}, 1},
		"other": {&tools.Retry{Statuses: []int{502}}, 1}, "three": {&tools.Retry{Statuses: []int{500}}, 3},
	} {
		f.want(t, slug, add(slug, func(c *tools.Config) { c.Retry = row.retry }), failure.HTTPStatus)
		if n := len(f.endpoint.Requests("/" + slug)); n != row.want {
			t.Errorf("%s: %d requests, want %d", slug, n, row.want)
		}
	}
}
