package calls_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/coder/websocket"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/cli/command"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/test/clitest"
)

const (
	account     = "AC00000000000000000000000000000001"
	token       = "token-of-a-test-0123456789"
	accountPath = "/2010-04-01/Accounts/" + account
	own         = "+15005550006"
	alice       = "+12015550123"
)

// telephone is the sound of telephones.
var telephone = audio.Format{Encoding: audio.MuLaw, RateHz: 8000}

// exchange is a simulated line and the services of calls, in memory. Its agent is a function of the
// test.
type exchange struct {
	clitest.Service
	parlancev1connect.UnimplementedCallbackServiceHandler
	parlancev1connect.UnimplementedTelephonyServiceHandler
	parlancev1connect.UnimplementedSessionServiceHandler

	t     *testing.T
	url   string
	board *simulated.Switchboard
	agent func(a *agent)

	mu       sync.Mutex
	asked    *parlancev1.CreateCallbackRequest
	callback *parlancev1.Callback
	calls    []*parlancev1.PhoneCall
	canceled chan string
}

// agent is the agent's end of a media socket.
type agent struct {
	*exchange
	conn   *websocket.Conn
	stream string
}

func newExchange(t *testing.T, talk func(a *agent)) *exchange {
	t.Helper()
	e := &exchange{t: t, agent: talk, canceled: make(chan string, 1)}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	e.board = simulated.New(simulated.Options{AccountSID: account, AuthToken: token, Numbers: []string{own}, Client: client})
	mux := http.NewServeMux()
	mux.Handle("/2010-04-01/", e.board)
	mux.HandleFunc("GET /v1/telephony/simulated/phones/{number}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer prl_test" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"detail": "The API key is not known."}`))
			return
		}
		e.board.ServePhone(w, r)
	})
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<Response><Connect><Stream url="ws` + strings.TrimPrefix(e.url, "http") + `/media"/></Connect></Response>`))
	})
	mux.HandleFunc("POST /status", e.status)
	mux.HandleFunc("GET /media", e.media)
	mux.Handle(parlancev1connect.NewCallbackServiceHandler(e))
	mux.Handle(parlancev1connect.NewTelephonyServiceHandler(e))
	mux.Handle(parlancev1connect.NewSessionServiceHandler(e))
	server := httptest.NewServer(mux)
	e.url = server.URL
	t.Cleanup(func() {
		e.board.Close()
		server.Close()
		client.CloseIdleConnections()
	})
	e.DataDir = t.TempDir()
	clitest.WriteFile(t, filepath.Join(e.DataDir, command.EnvFile), command.EnvBaseURL+"="+e.url+"/v1\n"+command.EnvAPIKey+"=prl_test\n"+
		command.EnvWorkspace+"=ws_1\n"+command.EnvAgent+"=agt_1\n")
	return e
}

// rest calls the carrier's interface.
func (e *exchange) rest(path string, form url.Values) {
	req := httptest.NewRequestWithContext(e.t.Context(), http.MethodPost, accountPath+path, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(account, token)
	answer := httptest.NewRecorder()
	if e.board.ServeHTTP(answer, req); answer.Code/100 != 2 {
		e.t.Errorf("the carrier answered %d: %s", answer.Code, answer.Body)
	}
}

// place has the carrier call a number.
func (e *exchange) place(to string) {
	e.rest("/Calls.json", url.Values{
		"From": {own}, "To": {to}, "Url": {e.url + "/answer"}, "StatusCallback": {e.url + "/status"},
		"StatusCallbackEvent": {"initiated", "ringing", "answered", "completed"},
	})
}

// numberSID is the carrier's id of its number.
func (e *exchange) numberSID() string {
	req := httptest.NewRequestWithContext(e.t.Context(), http.MethodGet, accountPath+"/IncomingPhoneNumbers.json", nil)
	req.SetBasicAuth(account, token)
	answer := httptest.NewRecorder()
	e.board.ServeHTTP(answer, req)
	var list struct {
		Numbers []struct {
			SID string `json:"sid"`
		} `json:"incoming_phone_numbers"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || len(list.Numbers) != 1 {
		e.t.Fatalf("the carrier has %s: %v", answer.Body, err)
	}
	return list.Numbers[0].SID
}

// status is a webhook of the carrier: it says what has become of a call.
func (e *exchange) status(_ http.ResponseWriter, r *http.Request) {
	status := strings.ReplaceAll(r.FormValue("CallStatus"), "-", "_")
	e.mu.Lock()
	defer e.mu.Unlock()
	switch status {
	case "completed", "busy", "no_answer":
	default:
		return
	}
	e.calls = append([]*parlancev1.PhoneCall{{
		Id: "pcl_1", Direction: "outbound", From: own, To: r.FormValue("To"), Status: status, EndReason: "agent_hung_up", SessionId: "ses_1",
		EndedAt: timestamppb.Now(),
	}}, e.calls...)
	if e.callback == nil {
		return
	}
	e.callback.Attempts = []*parlancev1.CallbackAttempt{{Number: 1, Status: status}}
	e.callback.Status, e.callback.NextAttemptAt = "scheduled", timestamppb.Now()
	if status == "completed" {
		e.callback.Status, e.callback.EndReason, e.callback.SessionId = "completed", "answered", "ses_1"
	}
}

// media is the agent's end of a call.
func (e *exchange) media(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		e.t.Error(err)
		return
	}
	defer func() { _ = conn.CloseNow() }()
	a := &agent{exchange: e, conn: conn}
	a.until("start")
	e.agent(a)
}

// until reads to the next message with an event; nil: the call is over before.
func (a *agent) until(event string) map[string]any {
	for {
		_, data, err := a.conn.Read(a.t.Context())
		if err != nil {
			return nil
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			a.t.Error(err)
			return nil
		}
		if a.stream == "" {
			a.stream, _ = m["streamSid"].(string)
		}
		if m["event"] == event {
			return m
		}
	}
}

// speak says a tone of a tenth of a second.
func (a *agent) speak() {
	tone := make([]int16, 800)
	for i := range tone {
		tone[i] = int16(8000 * (i%16/8*2 - 1))
	}
	message, err := json.Marshal(map[string]any{
		"event": "media", "streamSid": a.stream, "media": map[string]any{"payload": telephone.AppendEncode(nil, tone)},
	})
	if err == nil {
		err = a.conn.Write(a.t.Context(), websocket.MessageText, message)
	}
	if err != nil {
		a.t.Error(err)
	}
}

// hear listens until it has heard so much speech.
func (a *agent) hear(atLeast time.Duration) {
	for heard := 0; heard < telephone.Bytes(atLeast); {
		m := a.until("media")
		if m == nil {
			a.t.Error("the call is over before the words were heard")
			return
		}
		var frame []byte
		encoded, _ := json.Marshal(m["media"].(map[string]any)["payload"])
		if err := json.Unmarshal(encoded, &frame); err != nil {
			a.t.Error(err)
			return
		}
		decoder := audio.Decoder{Format: telephone}
		if audio.Level(decoder.AppendDecode(nil, frame)) > -45 {
			heard += len(frame)
		}
	}
}

// hangUp ends the call as the agent does.
func (a *agent) hangUp() { _ = a.conn.Close(websocket.StatusNormalClosure, "") }

func (e *exchange) CreateCallback(_ context.Context, req *parlancev1.CreateCallbackRequest) (*parlancev1.Callback, error) {
	e.mu.Lock()
	e.asked = req
	e.callback = &parlancev1.Callback{Id: "cb_1", Status: "dialing", PhoneNumber: req.GetPhoneNumber(), MaxAttempts: 3}
	made := &parlancev1.Callback{Id: "cb_1", Status: "scheduled"}
	e.mu.Unlock()
	e.place(req.GetPhoneNumber())
	return made, nil
}

func (e *exchange) GetCallback(_ context.Context, req *parlancev1.GetCallbackRequest) (*parlancev1.Callback, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.callback == nil || req.GetCallbackId() != e.callback.GetId() {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("No callback with the id."))
	}
	return &parlancev1.Callback{
		Id: e.callback.GetId(), Status: e.callback.GetStatus(), EndReason: e.callback.GetEndReason(), SessionId: e.callback.GetSessionId(),
		Attempts: e.callback.GetAttempts(), NextAttemptAt: e.callback.GetNextAttemptAt(), MaxAttempts: 3,
	}, nil
}

func (e *exchange) CancelCallback(_ context.Context, req *parlancev1.CancelCallbackRequest) (*parlancev1.Callback, error) {
	e.canceled <- req.GetCallbackId()
	return &parlancev1.Callback{Id: req.GetCallbackId(), Status: "canceled"}, nil
}

func (e *exchange) find(id string) (*parlancev1.PhoneCall, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.calls {
		if one.GetId() == id {
			return one, nil
		}
	}
	return nil, connect.NewError(connect.CodeNotFound, errors.New("No call with the id."))
}

func (e *exchange) ListCalls(context.Context, *parlancev1.ListCallsRequest) (*parlancev1.ListCallsResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &parlancev1.ListCallsResponse{Calls: e.calls}, nil
}

func (e *exchange) GetCall(_ context.Context, req *parlancev1.GetCallRequest) (*parlancev1.PhoneCall, error) {
	return e.find(req.GetCallId())
}

func (e *exchange) HangUpCall(_ context.Context, req *parlancev1.HangUpCallRequest) (*parlancev1.PhoneCall, error) {
	return e.find(req.GetCallId())
}

func (e *exchange) TransferCall(_ context.Context, req *parlancev1.TransferCallRequest) (*parlancev1.PhoneCall, error) {
	one, err := e.find(req.GetCallId())
	if err == nil {
		one.Transfer = &parlancev1.CallTransfer{Status: "requested", To: req.GetTo(), Mode: req.GetMode(), Summary: req.GetSummary()}
	}
	return one, err
}

func (e *exchange) GetTranscript(_ context.Context, req *parlancev1.GetTranscriptRequest) (*parlancev1.GetTranscriptResponse, error) {
	return &parlancev1.GetTranscriptResponse{Turns: []*parlancev1.Turn{
		{Id: "turn_1", AgentText: "Hello, this is Ada."}, {Id: "turn_2", UserText: "Hello there of " + req.GetSessionId(), AgentText: "Goodbye."},
	}}, nil
}
