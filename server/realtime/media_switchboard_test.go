package realtime_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/provider/carrier/twilio"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/server/realtime/mediastream"
	"parlance.dev/parlance/sessions"
)

// TestCallThroughSwitchboard: a phone calls an agent through the carrier's adapter and a simulated
// carrier, in real time, and hears the last sentence whole before the agent's hang-up.
func TestCallThroughSwitchboard(t *testing.T) {
	t.Parallel()
	const account, token, own, caller = "AC00000000000000000000000000000001", "secret-of-a-test", "+15005550006", "+491701234567"
	const greeting, farewell = "Press a key.", "Thank you for calling. Goodbye."
	f := newFixture(t, agents.Config{FirstMessage: greeting}, realtime.Limits{DrainTimeout: patience})
	f.stack.Synthesizer = speaker(t)
	f.model.then(call("end_call", `{"reason":"done","message":"`+farewell+`"}`))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	board := simulated.New(simulated.Options{
		AccountSID: account, AuthToken: token, Numbers: []string{own}, Client: client, RequestTimeout: patience,
	})
	t.Cleanup(board.Close)
	rest := httptest.NewServer(board)
	t.Cleanup(rest.Close)
	adapter, err := twilio.New(twilio.Config{AccountSID: account, AuthToken: token, BaseURL: rest.URL, Client: client})
	if err != nil {
		t.Fatal(err)
	}
	made := f.create(t, sessions.Voice)
	var hookURL string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		asked, err := adapter.Read(carrier.WebhookRequest{URL: hookURL, Kind: carrier.Asked, Header: r.Header, Form: r.PostForm})
		if err != nil || asked.From != caller {
			t.Errorf("asked with %+v, %v", asked, err)
		}
		answer := adapter.Render(carrier.Connect{URL: f.base + "/v1/telephony/twilio/media", Parameters: map[string]string{
			mediastream.ParameterSession: string(made.Session.ID), mediastream.ParameterToken: made.Token,
		}})
		w.Header().Set("Content-Type", answer.ContentType)
		_, _ = w.Write(answer.Body)
	}))
	t.Cleanup(hook.Close)
	hookURL = hook.URL + "/in"
	if err := adapter.Configure(t.Context(), own, hookURL); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var heard []byte
	events, talks := make(chan simulated.Event, 10), make(chan struct{})
	var first sync.Once
	phone := board.Register(caller, simulated.Listener{
		EventFunc: func(e simulated.Event) { events <- e },
		SoundFunc: func(sound []byte) {
			mu.Lock()
			defer mu.Unlock()
			if heard = append(heard, sound...); len(heard) > 2000 {
				first.Do(func() { close(talks) })
			}
		},
	})
	phone.Dial(own)
	if e := <-events; e.Kind != simulated.EventAnswered {
		t.Fatalf("got %+v", e)
	}
	<-talks
	phone.Press("1#")
	if e := <-events; e.Kind != simulated.EventHungUp {
		t.Fatalf("got %+v", e)
	}
	f.awaitSession(t, made.Session.ID, "the end", func(s sessions.Session) bool { return s.Status == sessions.Completed })
	all := f.transcript(t, made.Session.ID)
	if len(all) != 2 || !strings.HasPrefix(all[1].UserText, "Keys pressed: 1#") {
		t.Errorf("the transcript: %+v", all)
	}
	mu.Lock()
	defer mu.Unlock()
	least := audio.Duration(len(soundOf(t, f.stack.Synthesizer, farewell)), 24000)
	if got := audio.Duration(len(heard), 8000); got < least+2000*time.Second/8000-100*time.Millisecond {
		t.Errorf("heard %v, and the farewell alone is %v", got, least)
	}
}
