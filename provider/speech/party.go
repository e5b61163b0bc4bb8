package speech

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/internal/apiclient"
)

// Party is a service in error messages. Its methods convert the failures of a service to faults.
// The words of a service are never shown or logged, except its error codes, because services repeat
// keys and requests in them.
type Party struct {
	// Name is that of the transcriber or synthesizer.
	Name string
	// Secret is the API key. An error code that contains it is left out.
	Secret string
}

// The keys of Fault.Meta that the guards and chains read.
const (
	metaProvider = "provider"
	metaStatus   = "status"
	// metaWhy is one of the values below. Absent for other failures.
	metaWhy = "why"
	// whyCircuitOpen: the service was not called, because it had failed several times in a row.
	whyCircuitOpen = "circuit-open"
	// whyBroken: a connection that had been made was lost.
	whyBroken = "broken"
)

// Failed is the error for a call that err ended. ctx is that of the call, from Timeouts: when the
// caller ended it, the result is ctx.Err() wrapped, not a fault. begun says that something of an
// answer had come. An err that is a fault is returned as it is.
func (p Party) Failed(ctx context.Context, begun bool, err error) error {
	if decided, ok := errors.AsType[*fault.Error](err); ok {
		return decided
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errNoTranscript):
		return p.fault(err, fault.UpstreamFailed, "%s did not return a transcript in time.", p.Name)
	case errors.Is(cause, errNoAudio):
		return p.fault(err, fault.UpstreamFailed, "%s did not begin to speak in time.", p.Name)
	case errors.Is(cause, errStalled):
		return p.fault(err, fault.UpstreamFailed, "%s fell silent in the middle of a sentence.", p.Name)
	case ctx.Err() != nil:
		return fmt.Errorf("calling %s: %w", p.Name, ctx.Err())
	}
	if refusal, ok := errors.AsType[*apiclient.Refusal](err); ok {
		return p.refused(refusal)
	}
	if begun {
		broken := p.fault(err, fault.UpstreamFailed, "%s broke off.", p.Name)
		broken.Meta[metaWhy] = whyBroken
		return broken
	}
	return p.fault(err, fault.UpstreamFailed, "%s could not be reached.", p.Name)
}

// refused is the fault for an answer with an HTTP status other than 2xx.
func (p Party) refused(refusal *apiclient.Refusal) error {
	reason, message := fault.UpstreamFailed, "could not answer."
	switch refusal.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		message = "refused the API key."
	case http.StatusPaymentRequired:
		message = "has no credit left for this API key."
	case http.StatusNotFound:
		message = "has no such model or voice, or nothing at this base URL."
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		message = "did not accept the request. Is its model, voice or language one that it has?"
	case http.StatusTooManyRequests:
		reason, message = fault.ServiceUnavailable, "is limiting our rate."
	case http.StatusServiceUnavailable:
		reason, message = fault.ServiceUnavailable, "is overloaded."
	}
	err := p.fault(errors.New(p.codeIn(refusal.Detail)), reason, "%s (status %d) %s", p.Name, refusal.Status, message)
	err.Meta[metaStatus] = strconv.Itoa(refusal.Status)
	err.RetryAfter = publicnet.RetryAfter(refusal.Header)
	return err
}

// Reported is the fault for an error that a service sent as a message. code is its word for it.
func (p Party) Reported(code string, overloaded bool) error {
	reason, message := fault.UpstreamFailed, "%s reported an error."
	if overloaded {
		reason, message = fault.ServiceUnavailable, "%s is overloaded or limiting our rate."
	}
	return p.fault(errors.New(p.safeCode(code)), reason, message, p.Name)
}

// Unreadable is the fault for an answer that is not what was asked for. what ends the sentence
// "NAME answered something other than …".
func (p Party) Unreadable(cause error, what string) error {
	return p.fault(cause, fault.UpstreamFailed, "%s answered something other than %s. Is its base URL the one where the API begins?",
		p.Name, what)
}

func (p Party) fault(cause error, reason fault.Reason, format string, args ...any) *fault.Error {
	err := fault.Wrap(cause, reason, format, args...)
	err.Meta = map[string]string{metaProvider: p.Name}
	return err
}

// codePattern is the form of error codes. What has it is no sentence and no part of a transcript.
var codePattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

const noCode = "(no error code)"

// safeCode is a code that may be logged.
func (p Party) safeCode(code string) string {
	if !codePattern.MatchString(code) || p.Secret != "" && strings.Contains(code, p.Secret) {
		return noCode
	}
	return code
}

// codeIn finds the error code in a refusal: OpenAI's error.code or error.type, Deepgram's err_code,
// ElevenLabs' detail.status.
func (p Party) codeIn(detail string) string {
	var body struct {
		Error  json.RawMessage `json:"error"`
		Code   string          `json:"err_code"`
		Detail json.RawMessage `json:"detail"`
	}
	var inner struct {
		Code any    `json:"code"`
		Type string `json:"type"`
	}
	var status struct {
		Status string `json:"status"`
	}
	// What is not in one of these forms has no code.
	_ = json.Unmarshal([]byte(detail), &body)
	_ = json.Unmarshal(body.Error, &inner)
	_ = json.Unmarshal(body.Detail, &status)
	named := ""
	if inner.Code != nil {
		named = fmt.Sprint(inner.Code)
	}
	return p.safeCode(cmp.Or(named, inner.Type, body.Code, status.Status))
}
