package simulated_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/provider/carrier/twilio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	account = "AC00000000000000000000000000000001"
	token   = "token-of-a-test-0123456789"
	own     = "+15005550006"
	alice   = "+491701234567"
	bob     = "+491707654321"
	// faster is how much faster than ours the clock of the tests is.
	faster = 10
	// patience is how long tests wait for anything; it only ends when something is broken.
	patience = time.Minute
)

// hook is a webhook that the service got.
type hook struct {
	carrier.Webhook
	err error
}

// fixture is a switchboard, the adapter over its REST interface, and a service that it calls.
type fixture struct {
	*twilio.Carrier
	t     *testing.T
	board *simulated.Switchboard
	url   string
	hooks chan hook
	// media are the media sockets that were opened, until the test takes them.
	media chan *websocket.Conn

	mu sync.Mutex
	// answers are what the service does, by the path of the webhook.
	answers map[string]carrier.Instruction
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, hooks: make(chan hook, 100), media: make(chan *websocket.Conn, 1), answers: map[string]carrier.Instruction{}}
	begin := time.Now()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	f.board = simulated.New(simulated.Options{
		AccountSID: account, AuthToken: token, Numbers: []string{own}, Client: client, RequestTimeout: patience,
		Now:   func() time.Time { return begin.Add(faster * time.Since(begin)) },
		After: func(d time.Duration) <-chan time.Time { return time.After(d / faster) },
	})
	mux := http.NewServeMux()
	mux.Handle("/2010-04-01/", f.board)
	mux.HandleFunc("GET /phones/{number}", f.board.ServePhone)
	mux.HandleFunc("GET /media", f.acceptMedia)
	mux.HandleFunc("POST /hook/{kind}", f.answer)
	server := httptest.NewServer(mux)
	f.url = server.URL
	t.Cleanup(func() {
		f.board.Close()
		server.Close()
		client.CloseIdleConnections()
	})
	var err error
	f.Carrier, err = twilio.New(twilio.Config{AccountSID: account, AuthToken: token, BaseURL: server.URL, Client: client})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// on has the service answer the webhooks of a kind.
func (f *fixture) on(kind carrier.Kind, i carrier.Instruction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[string(kind)] = i
}

func (f *fixture) hook(kind carrier.Kind) string { return f.url + "/hook/" + string(kind) }

// answer is the service's end of a webhook.
func (f *fixture) answer(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	kind := r.PathValue("kind")
	read, err := f.Read(carrier.WebhookRequest{
		URL: f.hook(carrier.Kind(kind)), Kind: carrier.Kind(kind), Header: r.Header, Form: r.PostForm,
	})
	f.hooks <- hook{read, err}
	f.mu.Lock()
	answer := f.Render(f.answers[kind])
	f.mu.Unlock()
	w.Header().Set("Content-Type", answer.ContentType)
	_, _ = w.Write(answer.Body)
}

func (f *fixture) acceptMedia(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	f.media <- conn
}

// place has the adapter call a number.
func (f *fixture) place(to string, change ...func(*carrier.PlaceParams)) carrier.CallID {
	f.t.Helper()
	params := carrier.PlaceParams{From: own, To: to, AnswerURL: f.hook(carrier.Asked), StatusURL: f.hook(carrier.StatusChanged)}
	for _, c := range change {
		c(&params)
	}
	id, err := f.Place(f.t.Context(), params)
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// until takes webhooks to the first that fits, which it returns.
func (f *fixture) until(what string, fits func(hook) bool) hook {
	f.t.Helper()
	late := time.After(patience)
	for {
		select {
		case h := <-f.hooks:
			if fits(h) {
				return h
			}
		case <-late:
			f.t.Fatalf("%s did not come", what)
		}
	}
}

func (f *fixture) untilStatus(status carrier.Status) hook {
	f.t.Helper()
	return f.until(string(status), func(h hook) bool { return h.Kind == carrier.StatusChanged && h.Status == status })
}

func (f *fixture) untilKind(kind carrier.Kind) hook {
	f.t.Helper()
	return f.until(string(kind), func(h hook) bool { return h.Kind == kind })
}

// phone is a phone whose events the test reads.
type phone struct {
	*simulated.Phone
	f      *fixture
	events chan simulated.Event
	mu     sync.Mutex
	heard  []byte
}

// phone registers one; on is what it does when it rings.
func (f *fixture) phone(number string, on func(*simulated.Phone)) *phone {
	p := &phone{f: f, events: make(chan simulated.Event, 100)}
	registered := make(chan struct{})
	p.Phone = f.board.Register(number, simulated.Listener{
		EventFunc: func(e simulated.Event) {
			<-registered
			p.events <- e
			if e.Kind == simulated.EventRing && on != nil {
				on(p.Phone)
			}
		},
		SoundFunc: func(sound []byte) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.heard = append(p.heard, sound...)
		},
	})
	close(registered)
	return p
}

func (p *phone) want(kind string) simulated.Event {
	p.f.t.Helper()
	select {
	case e := <-p.events:
		if e.Kind != kind {
			p.f.t.Fatalf("got %+v, want %s", e, kind)
		}
		return e
	case <-time.After(patience):
		p.f.t.Fatalf("%s did not come", kind)
		return simulated.Event{}
	}
}

// hears waits until the phone has played a sound.
func (p *phone) hears(sound []byte) {
	p.f.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		p.mu.Lock()
		found := strings.Contains(string(p.heard), string(sound))
		p.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(deadline) {
			p.f.t.Fatal("the sound was not heard")
		}
		<-time.After(time.Millisecond)
	}
}

func answers(p *simulated.Phone) { p.Answer() }

// TestStatuses: how a call ends that nobody talks in, and the webhooks on the way there.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		on   func(*simulated.Phone)
		want carrier.Status
	}{
		"busy": {func(p *simulated.Phone) { p.Busy() }, carrier.Busy}, "rejected": {func(p *simulated.Phone) { p.Reject() }, carrier.Busy},
		"hung up while it rings": {func(p *simulated.Phone) { p.HangUp() }, carrier.Busy}, "rings": {nil, carrier.NoAnswer},
		"answered": {answers, carrier.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.on(carrier.Asked, carrier.Speak{Text: "Hello"})
			f.phone(alice, row.on)
			id := f.place(alice, func(p *carrier.PlaceParams) { p.Ring = 5 * time.Second })
			statuses := []carrier.Status{carrier.Queued, carrier.Ringing, row.want}
			if row.want == carrier.Completed {
				statuses = slices.Insert(statuses, 2, carrier.InProgress)
			}
			for i, want := range statuses {
				got := f.until("a status", func(h hook) bool { return h.Kind == carrier.StatusChanged })
				if got.err != nil || got.ID != id || got.Status != want || got.Sequence != i+1 {
					t.Errorf("got %+v, want %s", got, want)
				}
			}
			if now, err := f.Look(t.Context(), id); err != nil || now.Status != row.want {
				t.Errorf("looked like %+v, %v", now, err)
			}
			if err := f.Instruct(t.Context(), id, carrier.Speak{Text: "late"}); err != nil {
				t.Errorf("a call that is over: %v", err)
			}
		})
	}
}

// TestPlaced: a call whose answer got lost is found, and hung up while it rings.
func TestPlaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.board.Fail(simulated.Faults{LosePlaced: 1})
	params := carrier.PlaceParams{From: own, To: alice, AnswerURL: f.hook(carrier.Asked), StatusURL: f.hook(carrier.StatusChanged)}
	if _, err := f.Place(t.Context(), params); err == nil {
		t.Fatal("the answer did not get lost")
	}
	f.untilStatus(carrier.Ringing)
	since := carrier.FindParams{From: own, To: alice, Since: time.Now().Add(-time.Minute)}
	placed, err := f.Find(t.Context(), since)
	if err != nil || len(placed) != 1 || placed[0].Status != carrier.Ringing {
		t.Fatalf("found %+v, %v", placed, err)
	}
	found := placed[0]
	since.To = bob
	if others, err := f.Find(t.Context(), since); err != nil || len(others) > 0 {
		t.Errorf("found another: %+v, %v", others, err)
	}
	if err := f.Instruct(t.Context(), found.ID, carrier.Speak{Text: "early"}); err == nil {
		t.Error("a call that rings was told to speak")
	}
	if err := f.Instruct(t.Context(), found.ID, carrier.HangUp{}); err != nil {
		t.Fatal(err)
	}
	f.untilStatus(carrier.Canceled)
	for _, bad := range []carrier.PlaceParams{
		{From: bob, To: alice, AnswerURL: "x"}, {From: own, To: "1", AnswerURL: "x"}, {From: own, To: alice},
	} {
		if _, err := f.Place(t.Context(), bad); err == nil {
			t.Errorf("%+v was placed", bad)
		}
	}
	if err := f.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := f.Look(t.Context(), "CA1"); err == nil {
		t.Error("a call that is none was found")
	}
}

// TestBridge: a call in progress is connected with another phone, which is whispered to first.
func TestBridge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p, conn, _, id := f.talk()
	other := f.phone(bob, answers)
	f.on(carrier.Whispered, carrier.Speak{Text: "A call for you", Whisper: true})
	f.on(carrier.BridgeEnded, carrier.Speak{Text: "They have gone"})
	bridge := carrier.Bridge{
		From: own, To: bob, Ring: 20 * time.Second, WhisperURL: f.hook(carrier.Whispered), StatusURL: f.hook(carrier.BridgeChanged),
		EndedURL: f.hook(carrier.BridgeEnded),
	}
	if err := f.Instruct(t.Context(), id, bridge); err != nil {
		t.Fatal(err)
	}
	untilEvent(t, conn, "stop")
	if e := other.want(simulated.EventRing); e.From != own {
		t.Errorf("called by %s", e.From)
	}
	other.want(simulated.EventAnswered)
	if e := other.want(simulated.EventSay); e.Text != "A call for you" {
		t.Errorf("whispered %q", e.Text)
	}
	f.until("the whisper", func(h hook) bool { return h.Kind == carrier.Whispered && h.ID == id && h.err == nil })
	p.Speak([]byte("from alice"))
	other.hears([]byte("from alice"))
	other.Speak([]byte("from bob"))
	p.hears([]byte("from bob"))
	p.Press("7")
	if e := other.want(simulated.EventDTMF); e.Digit != "7" {
		t.Errorf("pressed %q", e.Digit)
	}
	other.HangUp()
	ended := f.until("the end", func(h hook) bool { return h.Kind == carrier.BridgeEnded })
	if ended.Bridge != carrier.Completed || ended.ID != id || ended.err != nil {
		t.Errorf("the bridge ended with %+v", ended)
	}
	if e := p.want(simulated.EventSay); e.Text != "They have gone" {
		t.Errorf("said %q", e.Text)
	}
	f.untilStatus(carrier.Completed)
}

// TestBridgeFails: nobody takes the other leg, or the caller does not wait for it.
func TestBridgeFails(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		on   func(caller, other *simulated.Phone)
		want carrier.Status
	}{
		"busy":     {func(_, other *simulated.Phone) { other.Busy() }, carrier.Busy},
		"silent":   {func(_, _ *simulated.Phone) {}, carrier.NoAnswer},
		"declined": {func(_, other *simulated.Phone) { other.Answer() }, carrier.NoAnswer},
		"gone":     {func(caller, _ *simulated.Phone) { caller.HangUp() }, carrier.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			caller := f.phone(alice, answers)
			f.phone(bob, func(other *simulated.Phone) { row.on(caller.Phone, other) })
			f.on(carrier.Whispered, carrier.HangUp{})
			f.on(carrier.Asked, carrier.Bridge{
				To: bob, Ring: 5 * time.Second, WhisperURL: f.hook(carrier.Whispered), EndedURL: f.hook(carrier.BridgeEnded),
				StatusURL: f.hook(carrier.BridgeChanged),
			})
			id := f.place(alice)
			var began, ended hook // in any order
			f.until("both", func(h hook) bool {
				switch {
				case h.Kind == carrier.BridgeChanged && began.ID == "":
					began = h
				case h.Kind == carrier.BridgeEnded:
					ended = h
				}
				return began.ID != "" && ended.ID != ""
			})
			if began.ID != id || began.Bridge != carrier.Queued || ended.Bridge != row.want || ended.err != nil {
				t.Errorf("the bridge began with %+v and ended with %+v", began, ended)
			}
		})
	}
}

// TestIncoming: a phone calls a number of the account.
func TestIncoming(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.phone(alice, nil)
	p.Dial(own) // it is not configured
	p.want(simulated.EventHungUp)
	if err := f.Configure(t.Context(), own, f.hook(carrier.Asked)); err != nil {
		t.Fatal(err)
	}
	f.on(carrier.Asked, carrier.Speak{Text: "Hello"})
	p.Dial(own)
	if h := f.untilKind(carrier.Asked); h.err != nil || h.From != alice || h.To != own || h.Status != carrier.Ringing {
		t.Errorf("asked with %+v", h)
	}
	p.want(simulated.EventAnswered)
	p.want(simulated.EventSay)
	p.want(simulated.EventHungUp)
	for _, busy := range []bool{true, false} {
		f.on(carrier.Asked, carrier.Reject{Busy: busy})
		p.Dial(own)
		if e := p.want(simulated.EventHungUp); (e.Reason == "busy") != busy {
			t.Errorf("busy %t: %s", busy, e.Reason)
		}
	}
	if err := f.Configure(t.Context(), bob, f.hook(carrier.Asked)); err == nil {
		t.Error("a number of somebody else was configured")
	}
}

// TestFaults: webhooks that come twice and late, and forged ones.
func TestFaults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.board.Fail(simulated.Faults{RepeatCallbacks: true, CallbackDelay: time.Second})
	f.on(carrier.Asked, carrier.HangUp{})
	f.phone(alice, answers)
	f.place(alice)
	var got []int
	for len(got) < 7 {
		got = append(got, f.until("a status", func(h hook) bool { return h.Kind == carrier.StatusChanged }).Sequence)
	}
	if want := []int{1, 2, 1, 3, 2, 4, 3}; !slices.Equal(got, want) {
		t.Errorf("the webhooks came as %v", got)
	}
	g := newFixture(t)
	g.board.Fail(simulated.Faults{ForgeSignatures: true})
	g.place(alice)
	g.until("a forged webhook", func(h hook) bool { return h.err != nil })
}

// TestMachine: who has answered is told.
func TestMachine(t *testing.T) {
	t.Parallel()
	for _, machine := range []bool{true, false} {
		f := newFixture(t)
		p, _, _, _ := f.talk()
		if machine {
			p.Machine()
		}
		p.HangUp()
		f.place(alice, func(p *carrier.PlaceParams) { p.MachineURL = f.hook(carrier.MachineDetected) })
		if h := f.untilKind(carrier.MachineDetected); h.err != nil || h.Machine != machine || h.MessageNow != machine {
			t.Errorf("detected %+v", h)
		}
		_ = (<-f.media).CloseNow()
	}
}

// TestLimit: a call is hung up when it has lasted long enough.
func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.on(carrier.Asked, carrier.Speak{Text: strings.Repeat("long ", 1000)})
	f.phone(alice, answers)
	f.place(alice, func(p *carrier.PlaceParams) { p.MaxDuration = 3 * time.Second })
	if h := f.untilStatus(carrier.Completed); h.Duration < 3*time.Second {
		t.Errorf("lasted %v", h.Duration)
	}
}
