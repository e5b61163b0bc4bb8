package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/internal/apiclient"
)

// Party is a model server in error messages. Its methods convert the failures of a server to
// faults.
type Party struct {
	// Name is Provider.Name.
	Name string
	// Secret is the API key. It is cut out of every cause, because servers may repeat it.
	Secret string
}

// statusOverloaded is the status of Anthropic for a server without capacity.
const statusOverloaded = 529

// The keys of Fault.Meta that [Chain] and [Guard] read.
const (
	metaProvider = "provider"
	metaStatus   = "status"
	// metaWhy is ReasonCircuitOpen or one of the values below. Absent for other failures.
	metaWhy = "why"
	// whyTooLong: the conversation is longer than the model can read.
	whyTooLong = "context-length"
	// whyRefused: a content filter refused the request.
	whyRefused = "content-filter"
)

// IsRefusedRequest reports whether a server refused a request itself (status 400), and not because
// of its length or of what it says. It may not know a parameter that others know.
func IsRefusedRequest(err error) bool {
	if err == nil {
		return false
	}
	meta := fault.From(err).Meta
	return meta[metaStatus] == "400" && meta[metaWhy] == ""
}

// refused is the fault for an answer with an HTTP status other than 2xx. detail is the text of the
// server: it is logged, not shown, and searched for what the status does not say. Of a text about a
// key only the code is logged.
func (p Party) refused(req Request, refusal *apiclient.Refusal) error {
	status, detail := refusal.Status, refusal.Detail
	reason, message := fault.UpstreamFailed, "could not answer."
	why := whyOf(status, detail)
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		message, detail = "refused the API key.", codeIn(detail)
	case http.StatusNotFound:
		message = "has no such model, or nothing at this base URL."
		if strings.Contains(detail, "DeploymentNotFound") {
			message = "has no such deployment; one that was just made takes some minutes."
		}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		message = "did not accept the request" + objectedTo(req.Tools, detail) + "."
	case http.StatusTooManyRequests:
		reason, message = fault.ServiceUnavailable, "is limiting our rate."
	case http.StatusServiceUnavailable, statusOverloaded:
		reason, message = fault.ServiceUnavailable, "is overloaded."
	}
	switch why {
	case whyTooLong:
		message = "cannot read a conversation of this length. Lower the agent's model.history_tokens or retrieval.top_k, " +
			"shorten its instructions, or choose a model with a larger context."
	case whyRefused:
		message = "refused the request: its content filter objects to something in the conversation" + filteredFor(detail) +
			". Reword it, or change the filter's settings with the provider."
	}
	err := fault.Wrap(p.cause(detail), reason, "%s (status %d) %s", p.Name, status, message)
	err.Meta = map[string]string{metaProvider: p.Name, metaStatus: strconv.Itoa(status)}
	if why != "" {
		err.Meta[metaWhy] = why
	}
	err.RetryAfter = publicnet.RetryAfter(refusal.Header)
	return err
}

// The texts of the two refusals that are about the conversation. Sources: OpenAI's and Azure's
// error codes; Anthropic's, vLLM's, llama.cpp's and Ollama's messages.
var (
	tooLongWords = []string{
		"context_length_exceeded", "maximum context length", "prompt is too long", "exceed_context_size",
		"exceeds the available context", "input is too long", "context window",
	}
	filterWords = []string{"content_filter", "responsibleaipolicyviolation", "content management policy", "content_policy_violation"}
)

// whyOf says whether a refusal is about the length or the content of the conversation.
func whyOf(status int, detail string) string {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge && status != http.StatusUnprocessableEntity {
		return ""
	}
	lower := strings.ToLower(detail)
	says := func(word string) bool { return strings.Contains(lower, word) }
	switch {
	case slices.ContainsFunc(filterWords, says):
		return whyRefused
	case slices.ContainsFunc(tooLongWords, says):
		return whyTooLong
	}
	return ""
}

// filteredFor is the categories of Azure's content filter that a refusal names, in brackets. Empty
// when it names none.
func filteredFor(detail string) string {
	var body struct {
		Error struct {
			Inner struct {
				Result map[string]struct {
					Filtered bool `json:"filtered"`
				} `json:"content_filter_result"`
			} `json:"innererror"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(detail), &body) != nil {
		return ""
	}
	var categories []string
	for name, result := range body.Error.Inner.Result {
		isOther := func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }
		if result.Filtered && len(name) <= maxCategoryBytes && !strings.ContainsFunc(name, isOther) {
			categories = append(categories, name)
		}
	}
	if len(categories) == 0 {
		return ""
	}
	slices.Sort(categories)
	return " (" + strings.Join(categories, ", ") + ")"
}

// maxCategoryBytes bounds the name of a category of a filter, which comes from outside.
const maxCategoryBytes = 40

// filtered is the fault for an answer that a content filter withheld completely.
func (p Party) filtered() error {
	err := fault.New(fault.UpstreamFailed, "%s withheld its whole answer: its content filter objects to it. "+
		"Reword the question, or change the filter's settings with the provider.", p.Name)
	err.Meta = map[string]string{metaProvider: p.Name, metaWhy: whyRefused}
	return err
}

// unanswered is the error for a call that [apiclient.Caller.Post] gave up. Ctx as for broken.
func (p Party) unanswered(ctx context.Context, req Request, err error) error {
	refusal, ok := errors.AsType[*apiclient.Refusal](err)
	if !ok || ctx.Err() != nil {
		return p.broken(ctx, false, err)
	}
	return p.refused(req, refusal)
}

// noStream is the fault for an answer that is not an event stream, such as a web page.
func (p Party) noStream(contentType string) error {
	err := fault.Wrap(p.cause("answered with Content-Type "+strconv.Quote(contentType)), fault.UpstreamFailed,
		"%s did not answer with an event stream. Is its base URL the one where the API begins?", p.Name)
	err.Meta = map[string]string{metaProvider: p.Name}
	return err
}

// Reported is the fault for an error event in the stream.
func (p Party) Reported(overloaded bool, detail string) error {
	reason, message := fault.UpstreamFailed, "%s reported an error in the middle of its answer."
	if overloaded {
		reason, message = fault.ServiceUnavailable, "%s is overloaded."
	}
	err := fault.Wrap(p.cause(detail), reason, message, p.Name)
	err.Meta = map[string]string{metaProvider: p.Name}
	return err
}

// broken is the error for a connection that could not be made or was lost. ctx is that of
// [Timeouts.Watch]: when the caller ended it, the error is ctx.Err(), not a fault.
func (p Party) broken(ctx context.Context, begun bool, cause error) error {
	why := context.Cause(ctx)
	message := "%s could not be reached."
	switch {
	case errors.Is(why, errNoFirstToken):
		message = "%s did not begin to answer in time."
	case errors.Is(why, errStalled):
		message = "%s fell silent in the middle of its answer."
	case errors.Is(why, errTooLong):
		message = "%s did not come to the end of its answer in time."
	case ctx.Err() != nil:
		return fmt.Errorf("asking %s: %w", p.Name, ctx.Err())
	case begun:
		message = "%s broke off in the middle of its answer."
	}
	err := fault.Wrap(p.cause(cause.Error()), fault.UpstreamFailed, message, p.Name)
	err.Meta = map[string]string{metaProvider: p.Name}
	return err
}
