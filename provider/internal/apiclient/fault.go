package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
)

// Fault is the fault for a call of a server that failed, without the server's own words, which may
// repeat the request. server begins its sentence. When ctx has ended, it is the error of ctx.
func Fault(ctx context.Context, server string, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("call a server: %w", cause)
	}
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		return fault.Wrap(err, fault.UpstreamFailed, "%s cannot be reached or did not answer in time.", server)
	}
	switch refusal.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Wrap(refusal, fault.UpstreamFailed, "%s refused our API key (%d).", server, refusal.Status)
	case http.StatusNotFound:
		return fault.Wrap(refusal, fault.UpstreamFailed, "%s does not know the model or the path (404).", server)
	}
	decided := fault.Wrap(refusal, fault.UpstreamFailed, "%s answered %d.", server, refusal.Status)
	decided.RetryAfter = publicnet.RetryAfter(refusal.Header)
	return decided
}
