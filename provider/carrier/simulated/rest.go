package simulated

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// The errors of the interface. Source: twilio.com/docs/api/errors.
const (
	codeAuthenticate  = 20003
	codeNotFound      = 20404
	codeInternal      = 20500
	codeNoURL         = 21205
	codeFrom          = 21210
	codeTo            = 21211
	codeNotInProgress = 21220
	codeTwiml         = 12100
)

const (
	defaultTimeout   = 60 * time.Second
	defaultTimeLimit = 4 * time.Hour
	maxFormBytes     = 64 << 10
)

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

func (s *Switchboard) routes() http.Handler {
	mux := http.NewServeMux()
	root := "/2010-04-01/Accounts/" + s.o.AccountSID
	mux.HandleFunc("GET "+root+".json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"sid": s.o.AccountSID, "status": "active", "friendly_name": "Switchboard"})
	})
	mux.HandleFunc("POST "+root+"/Calls.json", s.placeCall)
	mux.HandleFunc("GET "+root+"/Calls.json", s.listCalls)
	mux.HandleFunc("GET "+root+"/Calls/{file}", s.withCall(func(w http.ResponseWriter, _ *http.Request, c *call) {
		answer(w, http.StatusOK, c.view())
	}))
	mux.HandleFunc("POST "+root+"/Calls/{file}", s.withCall(changeCall))
	mux.HandleFunc("GET "+root+"/IncomingPhoneNumbers.json", s.listNumbers)
	mux.HandleFunc("POST "+root+"/IncomingPhoneNumbers/{file}", s.changeNumber)
	return mux
}

// ServeHTTP is the REST interface, below /2010-04-01.
func (s *Switchboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if user != s.o.AccountSID || subtle.ConstantTimeCompare([]byte(password), []byte(s.o.AuthToken.Reveal())) != 1 {
		refuse(w, http.StatusUnauthorized, codeAuthenticate, "Authenticate")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, codeNotFound, "The form cannot be read")
		return
	}
	s.rest.ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may be gone
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	answer(w, status, map[string]any{
		"code": code, "message": message, "status": status, "more_info": "https://www.twilio.com/docs/errors/" + strconv.Itoa(code),
	})
}

// placeCall is POST Calls.json.
func (s *Switchboard) placeCall(w http.ResponseWriter, r *http.Request) {
	from, to := r.PostForm.Get("From"), r.PostForm.Get("To")
	switch {
	case !e164.MatchString(to):
		refuse(w, http.StatusBadRequest, codeTo, "Invalid 'To' Phone Number: "+to)
		return
	case s.ownNumber(func(n *number) bool { return n.number == from }) == nil:
		refuse(w, http.StatusBadRequest, codeFrom, "The source phone number provided, "+from+", is not yet verified for your account.")
		return
	case r.PostForm.Get("Url") == "":
		refuse(w, http.StatusBadRequest, codeNoURL, "Url parameter is required.")
		return
	}
	c := s.newCall(from, to, "outbound-api")
	c.answerURL = r.PostForm.Get("Url")
	c.statusURL, c.statusEvents = r.PostForm.Get("StatusCallback"), r.PostForm["StatusCallbackEvent"]
	if r.PostForm.Get("MachineDetection") != "" && r.PostForm.Get("AsyncAmd") == "true" {
		c.machineURL = r.PostForm.Get("AsyncAmdStatusCallback")
	}
	c.timeout = secondsOf(r.PostForm.Get("Timeout"), defaultTimeout)
	c.timeLimit = secondsOf(r.PostForm.Get("TimeLimit"), defaultTimeLimit)
	view := c.view()
	s.add(c)
	if !s.start(c.runOutbound) || s.losesPlaced() {
		refuse(w, http.StatusInternalServerError, codeInternal, "An internal server error has occurred")
		return
	}
	answer(w, http.StatusCreated, view)
}

// losesPlaced reports whether the answer to a call that was placed gets lost.
func (s *Switchboard) losesPlaced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	loses := s.faults.LosePlaced > 0
	if loses {
		s.faults.LosePlaced--
	}
	return loses
}

// secondsOf is a duration in seconds.
func secondsOf(text string, otherwise time.Duration) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return otherwise
}

// listCalls is GET Calls.json, the newest first. The time of the start is in whole days, as Twilio
// takes it.
func (s *Switchboard) listCalls(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	all := slices.Clone(s.calls)
	s.mu.Unlock()
	slices.Reverse(all)
	query := r.URL.Query()
	since, _ := time.Parse(time.DateOnly, query.Get("StartTime>")) // otherwise all are listed
	most := 50
	if n, err := strconv.Atoi(query.Get("PageSize")); err == nil && n > 0 {
		most = n
	}
	views := []map[string]any{}
	for _, c := range all {
		if len(views) < most && c.created.After(since) && c.to == cmp.Or(query.Get("To"), c.to) && c.from == cmp.Or(query.Get("From"), c.from) {
			views = append(views, c.view())
		}
	}
	answer(w, http.StatusOK, map[string]any{"calls": views, "page": 0, "page_size": most})
}

// withCall finds the call of a path.
func (s *Switchboard) withCall(serve func(http.ResponseWriter, *http.Request, *call)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		at := slices.IndexFunc(s.calls, func(c *call) bool { return c.sid+".json" == r.PathValue("file") })
		var c *call
		if at >= 0 {
			c = s.calls[at]
		}
		s.mu.Unlock()
		if c == nil {
			refuse(w, http.StatusNotFound, codeNotFound, "The requested resource "+r.URL.Path+" was not found")
			return
		}
		serve(w, r, c)
	}
}

// changeCall is POST Calls/{sid}.json.
func changeCall(w http.ResponseWriter, r *http.Request, c *call) {
	switch status := r.PostForm.Get("Status"); status {
	case statusCompleted:
		c.end()
	case statusCanceled:
		if !c.currentLeg().isAnswered() {
			c.end()
		}
	default:
		document, err := parse([]byte(r.PostForm.Get("Twiml")))
		if err != nil {
			refuse(w, http.StatusBadRequest, codeTwiml, "Document parse failure")
			return
		}
		if !c.redirect(document) {
			refuse(w, http.StatusBadRequest, codeNotInProgress, "Call is not in-progress. Cannot redirect.")
			return
		}
	}
	answer(w, http.StatusOK, c.view())
}

func (s *Switchboard) listNumbers(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	views := []map[string]any{}
	for _, n := range s.numbers {
		if n.number == cmp.Or(r.URL.Query().Get("PhoneNumber"), n.number) {
			views = append(views, n.view())
		}
	}
	answer(w, http.StatusOK, map[string]any{"incoming_phone_numbers": views})
}

func (n *number) view() map[string]any {
	return map[string]any{"sid": n.sid, "phone_number": n.number, "voice_url": n.voiceURL, "voice_method": http.MethodPost}
}

func (s *Switchboard) changeNumber(w http.ResponseWriter, r *http.Request) {
	n := s.ownNumber(func(n *number) bool { return n.sid+".json" == r.PathValue("file") })
	if n == nil {
		refuse(w, http.StatusNotFound, codeNotFound, "The requested resource "+r.URL.Path+" was not found")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n.voiceURL = r.PostForm.Get("VoiceUrl")
	answer(w, http.StatusOK, n.view())
}
