package carrier

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// CallID is a carrier's own id of a call.
type CallID string

// Carrier places calls and changes them. It is safe for concurrent use.
type Carrier interface {
	// Name is stored with calls and shown, e.g. "twilio".
	Name() string
	// Place has the carrier call a number, and returns once it has accepted that. After an error other
	// than Refused it is not known whether it calls: see Find.
	// Errors: Refused, Upstream upstream-failed, ctx's.
	Place(ctx context.Context, p PlaceParams) (CallID, error)
	// Find looks for calls that were placed and may be the one whose id got lost, newest first.
	// Errors: Upstream upstream-failed.
	Find(ctx context.Context, p FindParams) ([]Update, error)
	// Look reads how a call is now. Errors: Refused (there is none), Upstream upstream-failed.
	Look(ctx context.Context, id CallID) (Update, error)
	// Instruct changes what happens with a call in progress; HangUp ends it also while it rings. A
	// call that is over is no error. Errors: Refused, Upstream upstream-failed.
	Instruct(ctx context.Context, id CallID, i Instruction) error
	// Configure has the carrier call a webhook when there is a call for a number of its account.
	// Errors: Refused (the number is not the account's), Upstream upstream-failed.
	Configure(ctx context.Context, number, webhookURL string) error
	// Read checks the signature of a webhook and reads it. url is the address that the carrier called,
	// as it was given to it. Errors: Invalid signature-invalid, Invalid invalid-request.
	Read(r WebhookRequest) (Webhook, error)
	// Render is the answer to a webhook that asks; nil is the answer to one that does not.
	Render(i Instruction) Answer
	// Check makes one small request that costs nothing and shows that the credential works. Errors:
	// Refused, Upstream upstream-failed, ctx's.
	Check(ctx context.Context) error
}

// PlaceParams describes a call to place.
type PlaceParams struct {
	// From and To are E.164.
	From, To string
	// AnswerURL is asked when the call is answered, StatusURL told of its status, MachineURL told
	// whether a machine has answered; empty: machines are not detected.
	AnswerURL, StatusURL, MachineURL string
	// Ring is how long it rings, MaxDuration how long the call may be. Both in whole seconds.
	Ring, MaxDuration time.Duration
}

// FindParams says what a call that got lost was like.
type FindParams struct {
	From, To string
	// Since is the earliest time it can have been placed.
	Since time.Time
}

// Status is where a call is.
type Status string

// The statuses, in the order of a call's life. Those from Completed on are final.
const (
	Queued     Status = "queued"
	Ringing    Status = "ringing"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Busy       Status = "busy"
	NoAnswer   Status = "no_answer"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// IsFinal reports whether the call is over.
func (s Status) IsFinal() bool {
	switch s {
	case Completed, Busy, NoAnswer, Failed, Canceled:
		return true
	case Queued, Ringing, InProgress:
	}
	return false
}

// Update is what a carrier says of a call.
type Update struct {
	ID CallID
	// Status is empty when it says nothing of it.
	Status Status
	// Sequence is higher in later updates of a call, and of a BridgeChanged in later ones of the other
	// leg; 0: the carrier does not count.
	Sequence int
	// At is when the call got the status, in whole seconds; zero: the carrier does not say. An update
	// may come much later.
	At time.Time
	// Duration is the time talked, of a call or a bridge that is completed.
	Duration time.Duration
	// Reason is what the carrier says of a failure, for people; may be empty.
	Reason string
}

// Kind says what a webhook is about.
type Kind string

// The kinds.
const (
	// Asked: the call was answered, or came in, and the carrier asks what is to be done.
	Asked Kind = "asked"
	// StatusChanged: Update has it.
	StatusChanged Kind = "status"
	// MachineDetected: Human and Machine have it.
	MachineDetected Kind = "machine"
	// BridgeChanged: the other leg of a Bridge has another status, which Bridge has.
	BridgeChanged Kind = "bridge"
	// BridgeEnded: a Bridge is over, and the carrier asks what is to be done with the caller. Bridge
	// is how it ended: Completed after a talk.
	BridgeEnded Kind = "bridge_ended"
	// Whispered: the person at the other leg of a Bridge has answered, and the carrier asks what to
	// say before the two are connected.
	Whispered Kind = "whisper"
)

// WebhookRequest is a request of a carrier.
type WebhookRequest struct {
	// URL is the address as it was given to the carrier, with its query.
	URL string
	// Kind is what the address is for.
	Kind Kind
	// Header and Form are the request's.
	Header http.Header
	Form   url.Values
}

// Webhook is what a carrier says or asks.
type Webhook struct {
	Kind Kind
	Update
	// From and To are of an Asked. Both are E.164; From is empty when the caller hides it.
	From, To string
	// Human says that a person answered, Machine that a machine did; neither: it is not known.
	// MessageNow says that the machine's greeting is over, so that what is said now is recorded, and
	// Fax that it is a fax, which records nothing.
	Human, Machine, MessageNow, Fax bool
	// Bridge is the status of the other leg.
	Bridge Status
}

// Answer is the body of the answer to a webhook.
type Answer struct {
	ContentType string
	Body        []byte
}

// Instruction is what is to be done with a call: one of the types below.
type Instruction interface{ isInstruction() }

// Connect opens a media socket for the call. When the socket is closed, the call is hung up.
type Connect struct {
	// URL is ws or wss, without a query: carriers drop it.
	URL string
	// Parameters are sent in the first message on the socket. They are ASCII. A carrier that bounds
	// their length sends a long one in pieces; JoinPieces puts them together.
	Parameters map[string]string
}

// NextPiece is the name of the piece of a parameter that follows a number of them.
func NextPiece(name string, before int) string { return name + "_" + strconv.Itoa(before+1) }

// JoinPieces is a parameter as Connect had it; empty when it is not there.
func JoinPieces(parameters map[string]string, name string) string {
	var whole strings.Builder
	whole.WriteString(parameters[name])
	for n := 1; parameters[NextPiece(name, n)] != ""; n++ {
		whole.WriteString(parameters[NextPiece(name, n)])
	}
	return whole.String()
}

// Bridge connects the call with another number. The media socket is closed.
type Bridge struct {
	// From and To are E.164; an empty From is the number of the caller.
	From, To string
	// Ring is how long it rings there, MaxDuration how long they may talk.
	Ring, MaxDuration time.Duration
	// WhisperURL is asked what to say to the person before the two are connected; empty: nothing.
	WhisperURL string
	// StatusURL is told of the other leg, EndedURL asked when it is over.
	StatusURL, EndedURL string
}

// Speak says a text in the carrier's own voice. Then the call is hung up, but for a whisper, after
// which the two are connected.
type Speak struct {
	Text string
	// Language is a BCP 47 tag; empty: the carrier's default.
	Language string
	// Whisper says that the two are connected then.
	Whisper bool
}

// HangUp ends the call.
type HangUp struct{}

// Reject does not take a call that came in; Busy: with the busy tone.
type Reject struct{ Busy bool }

func (Connect) isInstruction() {}
func (Bridge) isInstruction()  {}
func (Speak) isInstruction()   {}
func (HangUp) isInstruction()  {}
func (Reject) isInstruction()  {}

// Refused is the error of a carrier that will not do something, however often it is asked: a number
// that does not exist, an account that may not call a country.
type Refused struct {
	// Code is the carrier's own.
	Code string
	// Message is the carrier's, for people.
	Message string
}

// Error implements error.
func (r *Refused) Error() string { return "the carrier refused (" + r.Code + "): " + r.Message }
