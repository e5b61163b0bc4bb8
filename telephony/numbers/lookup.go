package numbers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/webhooks"
)

const (
	// DefaultLookUpTimeout is how long a look-up may take in all: the caller hears it ring meanwhile.
	DefaultLookUpTimeout = 3 * time.Second
	// LookUpEvent is X-Parlance-Event and the body's type of a look-up.
	LookUpEvent = "call.lookup"

	maxAnswerBytes = 64 << 10
)

// LookUpParams is a call that has come in.
type LookUpParams struct {
	// CallID is pcl_….
	CallID string
	// From and To are E.164; From is empty when the caller hides it.
	From, To string
}

// Answer says how a call is answered.
type Answer struct {
	// AgentID answers it, as the user UserID.
	AgentID agents.ID
	UserID  string
	// DynamicVariables are the session's. Those from a look-up may be secret__.
	DynamicVariables map[string]string
	// Reject: the call is not to be answered.
	Reject bool
}

// defaults is the answer without a look-up.
func (n Number) defaults(p LookUpParams) Answer {
	user := p.From
	if user == "" {
		user = "anonymous:" + p.CallID
	}
	return Answer{AgentID: n.AgentID, UserID: user, DynamicVariables: variablesOf(maps.Clone(n.DynamicVariables))}
}

// outcome says how a look-up ended. It is a label of a metric.
type outcome string

// The outcomes. After those from timedOut on the call is answered without the look-up.
const (
	accepted    outcome = "accepted"
	rejected    outcome = "rejected"
	timedOut    outcome = "timeout"
	unreachable outcome = "unreachable"
	badStatus   outcome = "status"
	malformed   outcome = "invalid"
	failed      outcome = "failed"
)

// newLookups counts look-ups. Without a registry nobody sees it.
func newLookups(registry prometheus.Registerer) *prometheus.CounterVec {
	return promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_lookups_total",
		Help: "Callers that customers were asked about, by outcome.",
	}, []string{telemetry.KeyOutcome})
}

// lookUpError is why a look-up has no answer.
type lookUpError struct {
	outcome outcome
	// reason is for the log: nothing of the request or the answer is in it.
	reason string
	err    error
}

func (e *lookUpError) Error() string { return e.reason }
func (e *lookUpError) Unwrap() error { return e.err }

// LookUp asks the customer about a caller, if the number has a LookupURL: one signed POST. Without
// an answer in time and in order, which is logged, the number's own values are used. Of variables
// with one name the customer's wins. Errors: ctx's only.
func (s *Service) LookUp(ctx context.Context, n Number, p LookUpParams) (Answer, error) {
	answer := n.defaults(p)
	if n.LookupURL == "" {
		return answer, nil
	}
	asked, err := s.ask(ctx, n, p)
	if err == nil {
		answer, err = s.merge(ctx, n, answer, asked)
	}
	if ctx.Err() != nil {
		return Answer{}, ctx.Err()
	}
	end := accepted
	if refusal, wrong := errors.AsType[*lookUpError](err); wrong {
		end = refusal.outcome
		s.log.WarnContext(ctx, "a caller was not looked up",
			slog.String(telemetry.KeyTenantID, string(n.TenantID)), slog.String(telemetry.KeyWorkspaceID, string(n.WorkspaceID)),
			slog.String(telemetry.KeyNumberID, string(n.ID)),
			slog.String(telemetry.KeyOutcome, string(end)), slog.String(telemetry.KeyReason, refusal.reason))
	} else if answer.Reject {
		end = rejected
	}
	s.lookups.WithLabelValues(string(end)).Inc()
	return answer, nil
}

// lookUpRequest is the body of a look-up.
type lookUpRequest struct {
	Type          string `json:"type"`
	CallID        string `json:"call_id"`
	WorkspaceID   string `json:"workspace_id"`
	AgentID       string `json:"agent_id"`
	PhoneNumberID string `json:"phone_number_id"`
	From          string `json:"from"`
	To            string `json:"to"`
	CreatedAt     string `json:"created_at"`
}

// lookUpAnswer is the body of a customer's answer.
type lookUpAnswer struct {
	DynamicVariables map[string]string `json:"dynamic_variables"`
	UserID           string            `json:"user_id"`
	AgentID          string            `json:"agent_id"`
	Reject           bool              `json:"reject"`
}

// ask sends the request and reads the answer. Every error is a *lookUpError.
func (s *Service) ask(ctx context.Context, n Number, p LookUpParams) (lookUpAnswer, error) {
	request, err := s.request(ctx, n, p)
	if err != nil {
		return lookUpAnswer{}, &lookUpError{failed, "the request could not be made", err}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return lookUpAnswer{}, noAnswer(err)
	}
	defer func() { _ = response.Body.Close() }() // what was read of it counts
	if response.StatusCode != http.StatusOK {
		return lookUpAnswer{}, &lookUpError{badStatus, "the answer has the status " + strconv.Itoa(response.StatusCode), nil}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return lookUpAnswer{}, noAnswer(err)
	}
	if len(body) > maxAnswerBytes {
		return lookUpAnswer{}, &lookUpError{malformed, "the answer has more than 64 KiB", nil}
	}
	var answer *lookUpAnswer
	if err := json.Unmarshal(body, &answer); err != nil || answer == nil {
		return lookUpAnswer{}, &lookUpError{malformed, "the answer is not a JSON object with the members that it may have", err}
	}
	return *answer, nil
}

// request makes the signed request. The call's id is the id of the message.
func (s *Service) request(ctx context.Context, n Number, p LookUpParams) (*http.Request, error) {
	secret, err := s.openSecret(ctx, n)
	if err != nil {
		return nil, err
	}
	at := s.moment()
	body, err := json.Marshal(lookUpRequest{
		Type: LookUpEvent, CallID: p.CallID, WorkspaceID: string(n.WorkspaceID), AgentID: string(n.AgentID),
		PhoneNumberID: string(n.ID), From: p.From, To: p.To, CreatedAt: at.Format(time.RFC3339Nano),
	})
	if err != nil {
		return nil, fmt.Errorf("encode the look-up for %s: %w", n.ID, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.LookupURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = webhooks.Sign(webhooks.Message{EventID: p.CallID, Type: LookUpEvent, Body: body, At: at}, secret)
	telemetry.Propagate(ctx, request.Header)
	return request, nil
}

// noAnswer describes an error of the client, without its text: that may hold the URL's query.
func noAnswer(err error) error {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return &lookUpError{timedOut, "there was no answer in time", err}
	}
	return &lookUpError{unreachable, "there was no answer", err}
}

// merge puts what the customer answered over the number's own values. With an error, which is a
// *lookUpError, it returns the number's own.
func (s *Service) merge(ctx context.Context, n Number, own Answer, asked lookUpAnswer) (Answer, error) {
	merged := own
	if asked.Reject { // the rest does not matter
		merged.Reject = true
		return merged, nil
	}
	merged.DynamicVariables = maps.Clone(own.DynamicVariables)
	for name, value := range asked.DynamicVariables {
		if code, _ := refuseVariable(name, value); code != "" {
			return own, &lookUpError{malformed, "a variable is refused: " + code, nil}
		}
		merged.DynamicVariables[name] = value
	}
	if len(merged.DynamicVariables) > sessions.MaxVariables {
		return own, &lookUpError{malformed, "there are too many variables", nil}
	}
	if user := asked.UserID; user != "" {
		if !sessions.IsUserID(user) {
			return own, &lookUpError{malformed, "user_id is refused", nil}
		}
		merged.UserID = user
	}
	if asked.AgentID != "" {
		merged.AgentID = agents.ID(asked.AgentID)
		known, err := s.hasAgent(ctx, n.Ref(), merged.AgentID)
		if err != nil {
			return own, &lookUpError{failed, "the agent could not be found", err}
		}
		if !known {
			return own, &lookUpError{malformed, "agent_id is not an agent of the workspace", nil}
		}
	}
	return merged, nil
}
