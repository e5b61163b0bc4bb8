package scenario

import (
	"encoding/pem"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/test/harness"
)

// callee and colleague are numbers that are kept for fiction.
const (
	callee    = "+12015550142"
	colleague = "+12015550143"
)

// phone is somebody's telephone, which does what the test says when it rings.
type phone struct {
	*simulated.Phone

	mu     sync.Mutex
	events []simulated.Event
	heard  int
	ready  chan struct{}
}

// telephone registers a telephone. onRing is what its owner does.
func telephone(board *simulated.Switchboard, number string, onRing func(p *phone)) *phone {
	p := &phone{ready: make(chan struct{})}
	p.Phone = board.Register(number, simulated.Listener{
		EventFunc: func(e simulated.Event) {
			p.mu.Lock()
			p.events = append(p.events, e)
			p.mu.Unlock()
			if e.Kind == simulated.EventRing && onRing != nil {
				<-p.ready
				onRing(p)
			}
		},
		SoundFunc: func(sound []byte) {
			for _, b := range sound {
				if b != 0xff && b != 0x7f { // silence in µ-law
					p.mu.Lock()
					p.heard++
					p.mu.Unlock()
				}
			}
		},
	})
	close(p.ready)
	return p
}

// count is how often an event of a kind came.
func (p *phone) count(kind string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// loud is how many samples were no silence.
func (p *phone) loud() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard
}

// callWorld is an installation with a simulated carrier and an agent that may call at any time.
type callWorld struct {
	*harness.Env

	board *simulated.Switchboard
	agent string
}

func newCallWorld(t *testing.T, o harness.Options) *callWorld {
	t.Helper()
	settings, board := harness.Switchboard(t)
	all := map[string]string{"PARLANCE_MODEL_NAME": "", "PARLANCE_TTS_NAME": ""}
	maps.Copy(all, settings)
	maps.Copy(all, o.Settings)
	o.Settings = all
	w := &callWorld{Env: harness.Start(t, o), board: board}
	w.agent = w.Do(t, "POST", w.Tenant.In("/agents"), map[string]any{
		"name": "Ada", "language": "en", "first_message": "Hello, this is Ada.", "model": map[string]any{"provider": "extractive"},
		"callbacks": map[string]any{"quiet_from": "00:00", "quiet_until": "00:00", "min_interval_minutes": 0, "ring_seconds": 120},
		"handover": map[string]any{
			"enabled": true, "mode": "warm", "ring_seconds": 60,
			"destinations": []any{map[string]any{"name": "support", "phone_number": colleague}},
		},
	}).Must(t, 201).Text("id")
	return w
}

// callNow plans a callback for now.
func (w *callWorld) callNow(t *testing.T, user string) (id string) {
	t.Helper()
	return w.Do(t, "POST", w.Tenant.In("/callbacks"), map[string]any{
		"agent_id": w.agent, "user_id": user, "phone_number": callee, "at": "now", "reason": "the lamp",
	}).Must(t, 201).Text("id")
}

func (w *callWorld) callback(t *testing.T, id string) harness.Response {
	t.Helper()
	return w.Do(t, "GET", w.Tenant.In("/callbacks/"+id), nil).Must(t, 200)
}

// await waits until a callback has a status.
func (w *callWorld) await(t *testing.T, id, status string) harness.Response {
	t.Helper()
	harness.Await(t, harness.Patience, "the callback to be "+status, func() bool { return w.callback(t, id).Text("status") == status })
	return w.callback(t, id)
}

// talking waits until a callback is answered, and returns its session.
func (w *callWorld) talking(t *testing.T, id string) (session string) {
	t.Helper()
	harness.Await(t, harness.Patience, "the callback to be answered", func() bool {
		session = w.callback(t, id).Text("session_id")
		return session != ""
	})
	return session
}

// call is the last call of a user.
func (w *callWorld) call(t *testing.T, user string) harness.Response {
	t.Helper()
	id := w.Do(t, "GET", w.Tenant.In("/calls?user_id="+url.QueryEscape(user)), nil).Must(t, 200).Text("calls", 0, "id")
	return w.Do(t, "GET", w.Tenant.In("/calls/"+id), nil).Must(t, 200)
}

// TestCall: a whole call. Webhooks come twice and in another order, which changes nothing.
func TestCall(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, harness.Options{})
	w.board.Fail(simulated.Faults{RepeatCallbacks: true})
	user := telephone(w.board, callee, (*phone).answer)
	id := w.callNow(t, "u")
	session := w.talking(t, id)
	harness.Await(t, harness.Patience, "the agent to be heard", func() bool { return user.loud() > 4000 })
	user.Press("12#")
	harness.Await(t, harness.Patience, "the keys to be answered", func() bool {
		turns := w.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200).List("turns")
		return len(turns) == 2 && turns[1].(map[string]any)["status"] == "completed"
	})
	user.HangUp()
	done := w.await(t, id, "completed")
	if done.Text("end_reason") != "answered" || len(done.List("attempts")) != 1 || user.count(simulated.EventRing) != 1 {
		t.Errorf("%s", done.Body)
	}
	call := w.call(t, "u")
	seconds, _ := call.At("duration_seconds").(float64)
	minutes := max(1, math.Ceil(seconds/60))
	if call.Text("status") != "completed" || call.Text("end_reason") != "person_hung_up" || call.At("pstn_minutes") != minutes {
		t.Errorf("the call: %s", call.Body)
	}
	transcript := w.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200)
	if transcript.Text("turns", 1, "user_text") != "Keys pressed: 12#" {
		t.Errorf("transcript: %s", transcript.Body)
	}
	harness.Await(t, harness.Patience, "the session to end", func() bool {
		return w.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 200).Text("end_reason") == "hang_up"
	})
	harness.Await(t, harness.Patience, "the minutes in the usage", func() bool {
		for _, meter := range w.Do(t, "GET", "/v1/usage", nil).Must(t, 200).List("meters") {
			if m := meter.(map[string]any); m["meter"] == "pstn_minutes" {
				return m["quantity"] == minutes
			}
		}
		return false
	})
}

func (p *phone) answer()  { p.Answer() }
func (p *phone) busy()    { p.Busy() }
func (p *phone) machine() { p.Machine(); p.Answer() }

// TestMissedCalls: busy and a machine are missed, and due again in half an hour.
func TestMissedCalls(t *testing.T) {
	t.Parallel()
	for name, onRing := range map[string]func(*phone){"busy": (*phone).busy, "voicemail": (*phone).machine} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCallWorld(t, harness.Options{})
			telephone(w.board, callee, onRing)
			id := w.callNow(t, "u")
			harness.Await(t, harness.Patience, "the attempt to end", func() bool {
				return w.callback(t, id).Text("attempts", 0, "end_reason") == name && w.callback(t, id).Text("status") == "scheduled"
			})
		})
	}
}

// TestTransfer: the person hears the summary, and the two are connected; when nobody answers, the
// caller is back with the agent.
func TestTransfer(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{true, false} {
		t.Run(map[bool]string{true: "Answered", false: "NobodyAnswers"}[answers], func(t *testing.T) {
			t.Parallel()
			w := newCallWorld(t, harness.Options{})
			user := telephone(w.board, callee, (*phone).answer)
			onRing := (*phone).answer
			if !answers {
				onRing = (*phone).busy
			}
			helper := telephone(w.board, colleague, onRing)
			id := w.callNow(t, "u")
			session := w.talking(t, id)
			harness.Await(t, harness.Patience, "the agent to be heard", func() bool { return user.loud() > 4000 })
			w.Do(t, "POST", "/v1/sessions/"+session+"/turns", map[string]any{"text": "I would like to speak to a person."}).Must(t, 200)
			if !answers {
				harness.Await(t, harness.Patience, "the transfer to fail", func() bool { return w.call(t, "u").Text("transfer", "status") == "failed" })
				harness.Await(t, harness.Patience, "the agent to say so", func() bool {
					return strings.Count(string(w.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200).Body), `"agent_text":"`) > 2
				})
				if got := w.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 200); got.Text("status") != "in_progress" {
					t.Errorf("the session: %s", got.Body)
				}
				user.HangUp()
				w.await(t, id, "completed")
				return
			}
			harness.Await(t, harness.Patience, "the person to be connected", func() bool {
				return w.call(t, "u").Text("transfer", "status") == "connected"
			})
			harness.Await(t, harness.Patience, "the session to end", func() bool {
				return w.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 200).Text("end_reason") == "transferred"
			})
			harness.Await(t, harness.Patience, "the person to hear the summary", func() bool { return helper.count(simulated.EventSay) == 1 })
			user.HangUp()
			if done := w.await(t, id, "completed"); done.Text("end_reason") != "transferred" {
				t.Errorf("%s", done.Body)
			}
		})
	}
}

// TestInboundCall: the customer is asked who calls, within the signed request, and the agent
// answers.
func TestInboundCall(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	customer := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("X-Parlance-Signature") != "" && strings.Contains(string(body), `"from":"`+callee+`"`) {
			asked.Add(1)
		}
		_, _ = io.WriteString(rw, `{"user_id":"customer-17","dynamic_variables":{"name":"Ada"}}`)
	}))
	t.Cleanup(customer.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: customer.Certificate().Raw})
	if err := os.WriteFile(authority, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newCallWorld(t, harness.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": authority}})
	number := w.Do(t, "POST", w.Tenant.In("/phone-numbers"), map[string]any{
		"phone_number": harness.SwitchboardFirst, "agent_id": w.agent, "lookup_url": customer.URL,
	}).Must(t, 201)
	if number.At("configured") != true || number.Text("lookup_secret") == "" {
		t.Fatalf("%s", number.Body)
	}
	caller := telephone(w.board, callee, nil)
	caller.Dial(harness.SwitchboardFirst)
	harness.Await(t, harness.Patience, "the agent to be heard", func() bool { return caller.loud() > 4000 })
	call := w.call(t, "customer-17")
	if asked.Load() != 1 {
		t.Errorf("the customer was asked %d times", asked.Load())
	}
	if call.Text("direction") != "inbound" || call.Text("from") != callee || call.Text("number_id") != number.Text("id") {
		t.Errorf("%s", call.Body)
	}
	caller.HangUp()
	harness.Await(t, harness.Patience, "the call to end", func() bool { return w.call(t, "customer-17").Text("status") == "completed" })
}

// TestForgedWebhook: a request without the account's signature changes nothing.
func TestForgedWebhook(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, harness.Options{})
	telephone(w.board, callee, nil) // it rings
	id := w.callNow(t, "u")
	w.await(t, id, "dialing")
	call := w.callback(t, id).Text("attempts", 0, "call_id")
	for _, path := range []string{"/status", "/asked", "/machine", "/bridge", "/bridge_ended", "/whisper"} {
		form := url.Values{"CallSid": {"CA0"}, "CallStatus": {"completed"}, "AnsweredBy": {"machine_start"}, "DialCallStatus": {"completed"}}
		got, err := http.PostForm(w.URL+"/v1/telephony/twilio/calls/"+call+path, form)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode != 400 {
			t.Errorf("%s answers %d", path, got.StatusCode)
		}
	}
	if got := w.callback(t, id); got.Text("status") != "dialing" {
		t.Errorf("%s", got.Body)
	}
}

// TestCutMedia: a media socket that dies ends the call, also when no webhook says that it is over,
// and nothing is left open.
func TestCutMedia(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, harness.Options{})
	user := telephone(w.board, callee, (*phone).answer)
	id := w.callNow(t, "u")
	harness.Await(t, harness.Patience, "the agent to be heard", func() bool { return user.loud() > 0 })
	w.board.Fail(simulated.Faults{CutMedia: true, CallbackDelay: time.Hour})
	done := w.await(t, id, "completed")
	if done.Text("session_id") == "" || len(done.List("attempts")) != 1 || done.Text("end_reason") != "answered" {
		t.Errorf("%s", done.Body)
	}
	harness.Await(t, harness.Patience, "the session to end", func() bool {
		session := w.Do(t, "GET", "/v1/sessions/"+done.Text("session_id"), nil).Must(t, 200)
		return session.Text("status") == "completed" && session.Text("end_reason") == "disconnected"
	})
	if reason := w.callback(t, id).Text("attempts", 0, "end_reason"); reason != "media_lost" {
		t.Errorf("the call ended as %s", reason)
	}
}

// carrierProxy is before the carrier's interface, and calls a function around each call that is
// placed. before reports whether the request goes on.
func carrierProxy(t *testing.T, target string, before func() bool, after func()) *httptest.Server {
	t.Helper()
	base, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(base)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		places := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/Calls.json")
		if places && !before() {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
		if places {
			after()
		}
	}))
	t.Cleanup(proxy.Close)
	return proxy
}

// TestKilledDialing kills the worker at each step of a callback that is due. The number is called
// once.
func TestKilledDialing(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"Queued", "BeforePlacing", "Placed"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			settings, board := harness.Switchboard(t)
			var worker atomic.Pointer[harness.Process]
			var killed atomic.Bool
			kill := func() {
				if !killed.Swap(true) {
					worker.Load().Kill()
				}
			}
			before, after := func() bool { return true }, func() {}
			switch step {
			case "BeforePlacing":
				before = func() bool { // only the first request is lost with its worker
					first := !killed.Load()
					kill()
					return !first
				}
			case "Placed":
				after = kill // before the answer is flushed
			}
			proxy := carrierProxy(t, settings["PARLANCE_TWILIO_BASE_URL"], before, after)
			settings["PARLANCE_TWILIO_BASE_URL"] = proxy.URL
			env := harness.Start(t, harness.Options{Settings: settings, WithoutWorker: true})
			w := &callWorld{Env: env, board: board}
			w.agent = env.Do(t, "POST", env.Tenant.In("/agents"), map[string]any{
				"name": "Ada", "first_message": "Hello.", "model": map[string]any{"provider": "extractive"},
				"callbacks": map[string]any{"quiet_from": "00:00", "quiet_until": "00:00"},
			}).Must(t, 201).Text("id")
			user := telephone(board, callee, (*phone).answer)
			worker.Store(env.StartProcess(t, "worker"))
			id := w.callNow(t, "u")
			if step == "Queued" {
				harness.Await(t, harness.Patience, "a task", func() bool {
					return len(harness.Rows[string](t, env, "SELECT id FROM callbacks WHERE queued_until IS NOT NULL")) > 0
				})
				kill()
			} else {
				harness.Await(t, harness.Patience, "the worker to die", worker.Load().Ended)
			}
			next := env.StartProcess(t, "worker")
			w.talking(t, id)
			harness.Await(t, harness.Patience, "the agent to be heard", func() bool { return user.loud() > 1000 })
			user.HangUp()
			done := w.await(t, id, "completed")
			if rings := user.count(simulated.EventRing); rings != 1 || len(done.List("attempts")) != 1 {
				t.Errorf("it rang %d times: %s", rings, done.Body)
			}
			next.Terminate()
		})
	}
}
