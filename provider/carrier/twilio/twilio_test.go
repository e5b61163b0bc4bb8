package twilio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/provider/carrier/twilio"
)

const (
	account = "AC00000000000000000000000000000001"
	token   = "token-of-a-test-0123456789"
	sid     = "CA00000000000000000000000000000001"
)

// request is what the server was asked.
type request struct {
	Method, Path string
	Form         url.Values
}

// server answers requests one after the other with what it was told to.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	answers  []answer
}

type answer struct {
	status int
	body   string
}

func open(t *testing.T, answers ...answer) (*twilio.Carrier, *server) {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if user, password, _ := r.BasicAuth(); user != account || password != token {
			t.Errorf("the credential is %s:%s", user, password)
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		s.requests = append(s.requests, request{r.Method, r.URL.Path, r.Form})
		if len(s.answers) == 0 {
			panic(http.ErrAbortHandler)
		}
		next := s.answers[0]
		s.answers = s.answers[1:]
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	}))
	t.Cleanup(s.Close)
	c, err := twilio.New(twilio.Config{AccountSID: account, AuthToken: token, BaseURL: s.URL, Client: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func (s *server) wants(t *testing.T, want ...request) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(want, s.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func path(rest string) string { return "/2010-04-01/Accounts/" + account + rest }

func TestPlace(t *testing.T) {
	t.Parallel()
	c, s := open(t, answer{201, `{"sid":"` + sid + `","status":"queued"}`}, answer{201, `{"sid":"` + sid + `","status":"queued"}`})
	id, err := c.Place(t.Context(), carrier.PlaceParams{
		From: "+15005550006", To: "+491701234567", AnswerURL: "https://a/answer", StatusURL: "https://a/status",
		MachineURL: "https://a/machine", Ring: 30 * time.Second, MaxDuration: 10 * time.Minute,
	})
	if id != sid || err != nil {
		t.Fatalf("got %s, %v", id, err)
	}
	_, err = c.Place(t.Context(), carrier.PlaceParams{From: "+15005550006", To: "+491701234567", AnswerURL: "https://a/answer"})
	if err != nil {
		t.Fatal(err)
	}
	s.wants(
		t, request{http.MethodPost, path("/Calls.json"), url.Values{
			"To": {"+491701234567"}, "From": {"+15005550006"}, "Url": {"https://a/answer"}, "Method": {"POST"},
			"StatusCallback": {"https://a/status"}, "StatusCallbackMethod": {"POST"},
			"StatusCallbackEvent": {"initiated", "ringing", "answered", "completed"}, "MachineDetection": {"DetectMessageEnd"},
			"AsyncAmd": {"true"}, "AsyncAmdStatusCallback": {"https://a/machine"}, "AsyncAmdStatusCallbackMethod": {"POST"},
			"Timeout": {"30"}, "TimeLimit": {"600"},
		}},
		request{http.MethodPost, path("/Calls.json"), url.Values{
			"To": {"+491701234567"}, "From": {"+15005550006"}, "Url": {"https://a/answer"}, "Method": {"POST"},
		}},
	)
}

// TestErrors: what Twilio refuses for good is told apart from what may have happened, and the token
// is in no error.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answers []answer
		refused *carrier.Refused
	}{
		"a bad number": {
			[]answer{{400, `{"code":21211,"message":"Invalid 'To' Phone Number: ` + token + `"}`}},
			&carrier.Refused{Code: "21211", Message: "Invalid 'To' Phone Number: ***"},
		},
		"a bad token": {
			[]answer{{401, `{"code":20003,"message":"Authenticate"}`}},
			&carrier.Refused{Code: "20003", Message: "Authenticate"},
		},
		"no JSON":             {[]answer{{403, `<html>`}}, &carrier.Refused{Code: "403", Message: "Forbidden"}},
		"408":                 {[]answer{{408, ``}}, nil},
		"425":                 {[]answer{{425, ``}}, nil},
		"429":                 {[]answer{{429, `{"code":20429,"message":"Too Many Requests"}`}}, nil},
		"500":                 {[]answer{{500, `{"code":20500,"message":"Internal"}`}}, nil},
		"a redirect":          {[]answer{{302, ``}}, nil},
		"a broken connection": {nil, nil},
		"something else":      {[]answer{{200, `[]`}}, nil},
		"no call":             {[]answer{{200, `{}`}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := open(t, row.answers...)
			_, err := c.Place(t.Context(), carrier.PlaceParams{From: "+15005550006", To: "+491701234567", AnswerURL: "https://a/"})
			refused, is := errors.AsType[*carrier.Refused](err)
			switch {
			case is != (row.refused != nil), is && *refused != *row.refused:
				t.Errorf("got %v", err)
			case !is && fault.ReasonOf(err) != fault.UpstreamFailed:
				t.Errorf("got %v", err)
			case strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), token):
				t.Errorf("the error has the token: %v", err)
			case s.count() != 1:
				t.Errorf("asked %d times", s.count())
			}
			if fault.From(err).RetryAfter != 3*time.Second && name == "429" {
				t.Errorf("again after %v", fault.From(err).RetryAfter)
			}
		})
	}
	c, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone got %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	since := time.Date(2024, 5, 1, 12, 0, 0, 500_000_000, time.UTC)
	line := func(sid, from, direction, status, at string) string {
		return `{"sid":"` + sid + `","from":"` + from + `","to":"+491701234567","direction":"` + direction + `","status":"` + status +
			`","date_created":"` + at + `","start_time":null}`
	}
	body := `{"calls":[` + strings.Join([]string{
		line("CA1", "+15005550006", "outbound-api", "completed", "Wed, 01 May 2024 11:59:59 +0000"),
		line("CA2", "+15005550006", "outbound-api", "queued", "Wed, 01 May 2024 14:00:00 +0200"),
		line("CA3", "+15005550006", "outbound-dial", "ringing", "Wed, 01 May 2024 12:00:03 +0000"),
		line("CA4", "+15005550007", "outbound-api", "ringing", "Wed, 01 May 2024 12:00:03 +0000"),
		line("CA5", "+15005550006", "outbound-api", "ringing", "tomorrow"),
	}, ",") + `]}`
	c, s := open(t, answer{200, body}, answer{200, `{"calls":[]}`}, answer{401, `{"code":20003,"message":"Authenticate"}`})
	params := carrier.FindParams{From: "+15005550006", To: "+491701234567", Since: since}
	found, err := c.Find(t.Context(), params)
	if want := (carrier.Update{ID: "CA2", Status: carrier.Queued}); err != nil || len(found) == 0 || found[0] != want {
		t.Errorf("got %+v, %v", found, err)
	}
	if found, err := c.Find(t.Context(), params); len(found) > 0 || err != nil {
		t.Errorf("got %+v, %v", found, err)
	}
	if _, err := c.Find(t.Context(), params); fault.ReasonOf(err) != fault.UpstreamFailed {
		t.Errorf("got %v", err)
	}
	query := url.Values{"To": {"+491701234567"}, "From": {"+15005550006"}, "PageSize": {"200"}}
	want := request{http.MethodGet, path("/Calls.json"), query}
	s.wants(t, want, want, want)
}

func TestLook(t *testing.T) {
	t.Parallel()
	found := answer{200, `{"sid":"` + sid + `","status":"completed","duration":"61","end_time":"Tue, 13 Jan 2026 16:02:01 +0100"}`}
	c, _ := open(t, found, answer{404, `{"code":20404,"message":"not found"}`})
	got, err := c.Look(t.Context(), sid)
	ended := time.Date(2026, 1, 13, 15, 2, 1, 0, time.UTC)
	if want := (carrier.Update{ID: sid, Status: carrier.Completed, At: ended, Duration: 61 * time.Second}); got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, id := range []carrier.CallID{sid, "", "../Messages"} { // the last two are not asked for
		if _, err := c.Look(t.Context(), id); !isRefused(err) {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

func isRefused(err error) bool {
	_, is := errors.AsType[*carrier.Refused](err)
	return is
}

func TestInstruct(t *testing.T) {
	t.Parallel()
	over := answer{400, `{"code":21220,"message":"Call is not in-progress. Cannot redirect."}`}
	ok := answer{200, `{"sid":"` + sid + `","status":"completed"}`}
	c, s := open(t, ok, ok, over, ok, over, answer{200, `{"sid":"` + sid + `","status":"ringing"}`})
	speak := carrier.Speak{Text: "Good & bye", Language: "en-US"}
	for i, row := range []struct {
		do   carrier.Instruction
		fine bool
	}{{speak, true}, {carrier.HangUp{}, true}, {speak, true}, {speak, false}} {
		if err := c.Instruct(t.Context(), sid, row.do); (err == nil) != row.fine || err != nil && !isRefused(err) {
			t.Errorf("%d: got %v", i, err)
		}
	}
	one := request{http.MethodPost, path("/Calls/" + sid + ".json"), url.Values{"Twiml": {string(c.Render(speak).Body)}}}
	look := request{http.MethodGet, one.Path, url.Values{}}
	hangUp := request{http.MethodPost, one.Path, url.Values{"Status": {"completed"}}}
	s.wants(t, one, hangUp, one, look, one, look)
}

func TestConfigure(t *testing.T) {
	t.Parallel()
	list := answer{200, `{"incoming_phone_numbers":[{"sid":"PN1","phone_number":"+150055500061"},` +
		`{"sid":"PN2","phone_number":"+15005550006"}]}`}
	c, s := open(t, list, answer{200, `{}`}, list)
	if err := c.Configure(t.Context(), "+15005550006", "https://a/in"); err != nil {
		t.Fatal(err)
	}
	if err := c.Configure(t.Context(), "+15005550009", "https://a/in"); !isRefused(err) {
		t.Errorf("a number of somebody else: %v", err)
	}
	s.wants(
		t, request{http.MethodGet, path("/IncomingPhoneNumbers.json"), url.Values{"PhoneNumber": {"+15005550006"}}},
		request{http.MethodPost, path("/IncomingPhoneNumbers/PN2.json"), url.Values{
			"VoiceUrl": {"https://a/in"}, "VoiceMethod": {"POST"}, "VoiceApplicationSid": {""},
		}},
		request{http.MethodGet, path("/IncomingPhoneNumbers.json"), url.Values{"PhoneNumber": {"+15005550009"}}},
	)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	c, s := open(t, answer{200, `{"status":"active"}`}, answer{200, `{"status":"suspended"}`})
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Check(t.Context()); !isRefused(err) || !strings.Contains(err.Error(), "suspended") {
		t.Errorf("got %v", err)
	}
	want := request{http.MethodGet, path(".json"), url.Values{}}
	s.wants(t, want, want)
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, config := range []twilio.Config{
		{},
		{AccountSID: account, AuthToken: token},
		{AccountSID: account, Client: &http.Client{}},
		{AuthToken: token, Client: &http.Client{}},
		{AccountSID: "AC/../1", AuthToken: token, Client: &http.Client{}},
		{AccountSID: account, AuthToken: token, Client: &http.Client{}, BaseURL: "api.twilio.com"},
	} {
		if _, err := twilio.New(config); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%+v: got %v", config, err)
		}
	}
	c, err := twilio.New(twilio.Config{AccountSID: account, AuthToken: token, Client: &http.Client{}})
	if err != nil || c.Name() != "twilio" {
		t.Errorf("got %v, %v", c, err)
	}
}
