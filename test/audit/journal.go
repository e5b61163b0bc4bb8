package audit

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Noun is a kind of thing that customers make.
type Noun string

// The nouns that the auditor knows.
const (
	Agent          Noun = "agent"
	Tool           Noun = "tool"
	ToolAttachment Noun = "tool attachment"
	Source         Noun = "source"
	Attachment     Noun = "source attachment"
	Session        Noun = "session"
	Turn           Noun = "turn"
	// Said is what a socket acknowledged: an item of the user's.
	Said     Noun = "words on a socket"
	Endpoint Noun = "webhook endpoint"
	Key      Noun = "api key"
)

// Verb is what is done to one.
type Verb string

// The verbs. Create of an attachment may be repeated.
const (
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// Entry is one request of a customer, with the last answer to it.
type Entry struct {
	Noun Noun
	Verb Verb
	// ID is of what was made or changed; an attachment's is "<agent id>/<what is attached>". Empty
	// when a creation got no answer.
	ID string
	// Mark is unique text that the customer put into what it made, so that the effect of a request
	// without an answer can be found: name, slug, user_id, text or description.
	Mark string
	// Status is of the answer; 0: none came, and whether it happened is not known.
	Status int
	// Fields are what the answer said, by the auditor's names (see answers.go).
	Fields map[string]string
	// Requests is how often it was sent.
	Requests int
	// Keyed says that all of them carried one Idempotency-Key; those may have one effect, and
	// requests without a key one each.
	Keyed bool
	// At is when the answer came, or was given up.
	At time.Time
}

func (e Entry) answered() bool { return e.Status >= 200 && e.Status < 300 }

// Journal is what customers keep. Safe for concurrent use.
type Journal struct {
	mu         sync.Mutex
	entries    []Entry
	complaints []string
	counts     map[string]int
}

// Note keeps an entry. Those about one thing are noted in the order they were asked for.
func (j *Journal) Note(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

// Complain keeps what a customer saw that must not be, such as two answers under one key.
func (j *Journal) Complain(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.complaints = append(j.complaints, fmt.Sprintf(format, args...))
}

// Count counts something for the tally only.
func (j *Journal) Count(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.counts == nil {
		j.counts = map[string]int{}
	}
	j.counts[what]++
}

// Counts are what was counted, and the entries by noun, verb and outcome.
func (j *Journal) Counts() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := maps.Clone(j.counts)
	if out == nil {
		out = map[string]int{}
	}
	for _, e := range j.entries {
		outcome := "answered"
		switch {
		case e.Status == 0:
			outcome = "unknown"
		case !e.answered():
			outcome = fmt.Sprint(e.Status)
		}
		out[string(e.Noun)+" "+string(e.Verb)+" "+outcome]++
	}
	return out
}

// Entries are all, in the order they were noted.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// Complaints are what customers complained of.
func (j *Journal) Complaints() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.complaints)
}
