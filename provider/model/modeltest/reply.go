package modeltest

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"parlance.dev/parlance/provider/model"
)

// Reply is what a fake server answers to one request.
type Reply struct {
	// Text is the answer's text in the pieces in which it is sent.
	Text []string
	// Calls are the tool calls after the text.
	Calls []Call
	// Status other than 0 refuses the request, with RetryAfter as the header of that name and
	// Body as the body (default: the vendor's JSON error).
	Status     int
	RetryAfter string
	Body       string
	// Finish overrides the finish reason, in the vendor's word.
	Finish string
	// NoFinish leaves out the finish reason, NoUsage the token counts.
	NoFinish bool
	NoUsage  bool
	// End is how the stream ends.
	End End
	// Gate, when set, is received from before each piece of text: a slow server in the test's hand.
	Gate <-chan struct{}
	// Idle sends events that say nothing, as long as the caller listens, in place of the answer.
	Idle bool
	// AtOnce answers with one JSON object, as servers do that do not stream (openaichat only).
	AtOnce bool
	// Loose writes calls as careless servers do: whole, without index, id and type (openaichat only).
	Loose bool
}

// Call is a tool call, its arguments in the pieces in which they are sent.
type Call struct {
	ID, Name  string
	Arguments []string
}

// End is how a stream ends.
type End int

// The ends: as it should; with an error event; with the connection cut; with the connection closed
// in good order but the answer not finished; with the connection cut when the answer is finished;
// with the connection left open then, and nothing said of the end.
const (
	EndWhole End = iota
	EndError
	EndCut
	EndShort
	EndUnclosed
	EndOpen
)

// IdleEvery is how often a server that is idle says so.
const IdleEvery = 5 * time.Millisecond

// Wait waits for a signal; false when the caller hangs up before.
func Wait[T any](ctx context.Context, signal <-chan T) bool {
	select {
	case <-signal:
		return true
	case <-ctx.Done():
		return false
	}
}

// NameFits and IDFits are what vendors say of the names of tools and the ids of calls. Source: the
// refusals of OpenAI and Anthropic.
var (
	NameFits = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	IDFits   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

// AtTop is the keyword at the top of a tool's schema that vendors refuse; empty when there is none.
func AtTop(schema json.RawMessage) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(schema, &members) // what is no object has no members
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not"} {
		if members[keyword] != nil {
			return keyword
		}
	}
	return ""
}

// Usage is what the fakes report for each answer.
var Usage = model.Usage{InputTokens: 11, OutputTokens: 7}

// Received is a request as the vendor understands it.
type Received struct {
	Header http.Header
	// Body is the raw JSON.
	Body     []byte
	Model    string
	System   string
	Messages []model.Message
	Tools    []model.Tool
}

// LastText is the text of the last message.
func (r Received) LastText() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// Script hands out replies in order and records requests; when it is at its end it answers
// with Else, or [Gullible]. It is safe for concurrent use.
type Script struct {
	// Else answers at the end of the script; nil is Gullible. It is set before the first request.
	Else func(Received) Reply

	mu       sync.Mutex
	replies  []Reply
	received []Received
}

// NewScript makes a script of replies.
func NewScript(replies ...Reply) *Script { return &Script{replies: replies} }

// Next records a request and returns its reply.
func (s *Script) Next(r Received) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, r)
	if len(s.replies) == 0 && s.Else != nil {
		return s.Else(r)
	}
	if len(s.replies) == 0 {
		return Gullible(r)
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply
}

// Add appends replies.
func (s *Script) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Requests returns what was received so far, oldest first.
func (s *Script) Requests() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}
