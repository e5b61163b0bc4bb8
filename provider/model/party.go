package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/internal/wire"
)

// Party is an outside model server as errors speak of it. Its methods are the one table from
// what a vendor's server did to the fault the core acts on.
type Party struct {
	// Name is the provider's Name.
	Name string
	// Secret is the API key; it is cut out of every cause, since servers like to repeat it.
	Secret string
}

// statusOverloaded is Anthropic's status for a server without capacity.
const statusOverloaded = 529

// Refused is the fault for an answer with an HTTP status other than 2xx. Detail is the
// server's own text: logged, not shown.
func (p Party) Refused(status int, header http.Header, detail string) error {
	reason, message := fault.UpstreamFailed, "could not answer."
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		message = "refused the API key."
	case http.StatusNotFound:
		message = "has no such model, or nothing at this base URL."
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		message = "did not accept the request."
	case http.StatusTooManyRequests:
		reason, message = fault.ServiceUnavailable, "is limiting our rate."
	case http.StatusServiceUnavailable, statusOverloaded:
		reason, message = fault.ServiceUnavailable, "is overloaded."
	}
	err := fault.Wrap(p.cause(detail), reason, "%s (status %d) %s", p.Name, status, message)
	err.Meta = map[string]string{"provider": p.Name, "status": strconv.Itoa(status)}
	err.RetryAfter = wire.RetryAfter(header)
	return err
}

// Unanswered is the error for a call that [wire.Caller.Post] gave up. Ctx as for Broken.
func (p Party) Unanswered(ctx context.Context, err error) error {
	refusal, ok := errors.AsType[*wire.Refusal](err)
	if !ok || ctx.Err() != nil {
		return p.Broken(ctx, false, err)
	}
	return p.Refused(refusal.Status, refusal.Header, refusal.Detail)
}

// Reported is the fault for an error that the server wrote into its stream.
func (p Party) Reported(overloaded bool, detail string) error {
	reason, message := fault.UpstreamFailed, "%s reported an error in the middle of its answer."
	if overloaded {
		reason, message = fault.ServiceUnavailable, "%s is overloaded."
	}
	err := fault.Wrap(p.cause(detail), reason, message, p.Name)
	err.Meta = map[string]string{"provider": p.Name}
	return err
}

// Broken is the error for a connection that could not be made or was lost. Ctx is the one of
// [Timeouts.Watch]: the caller's own hang-up comes back as ctx.Err(), not as a fault.
func (p Party) Broken(ctx context.Context, begun bool, cause error) error {
	why := context.Cause(ctx)
	message := "%s could not be reached."
	switch {
	case errors.Is(why, errNoFirstToken):
		message = "%s did not begin to answer in time."
	case errors.Is(why, errStalled):
		message = "%s fell silent in the middle of its answer."
	case ctx.Err() != nil:
		return fmt.Errorf("asking %s: %w", p.Name, ctx.Err())
	case begun:
		message = "%s broke off in the middle of its answer."
	}
	err := fault.Wrap(p.cause(cause.Error()), fault.UpstreamFailed, message, p.Name)
	err.Meta = map[string]string{"provider": p.Name}
	return err
}

// maxCauseBytes bounds what a log line keeps of a server's answer.
const maxCauseBytes = 2000

func (p Party) cause(text string) error {
	if p.Secret != "" {
		text = strings.ReplaceAll(text, p.Secret, "***")
	}
	if len(text) > maxCauseBytes {
		text = strings.ToValidUTF8(text[:maxCauseBytes], "")
	}
	return errors.New(text)
}
