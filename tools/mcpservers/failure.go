package mcpservers

import (
	"errors"
	"net/http"
	"time"

	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/tools/httpcall"
)

// callFailure says why a call failed. It returns an error that is not the server's unchanged.
func callFailure(result mcp.Result, err error, timeout time.Duration) (*failure.Error, error) {
	switch failed, ok := errors.AsType[*mcp.Error](err); {
	case ok:
		return protocolFailure(failed, timeout), nil
	case err != nil:
		return nil, err
	case result.IsError:
		return failure.New(failure.Tool, "The tool reports that it failed. Read its answer: if the arguments were wrong, "+
			"correct them and call the tool again; otherwise tell the user."), nil
	}
	return nil, nil //nolint:nilnil // the call succeeded
}

// protocolFailure tells the model why a server did not run a call.
func protocolFailure(failed *mcp.Error, timeout time.Duration) *failure.Error {
	unclear := ""
	if failed.Sent {
		unclear = " Whether it took effect is not known."
	}
	switch failed.Kind {
	case mcp.Canceled:
		return failure.New(failure.Canceled, "The call was cancelled before the tool answered.%s", unclear)
	case mcp.Timeout:
		return failure.New(failure.Timeout, "The tool did not answer within %d seconds.%s "+
			"Tell the user, and do not repeat the call unless they ask.", int(timeout.Seconds()), unclear)
	case mcp.NotPublic:
		return failure.New(failure.NotPublic, "The tool's host has an address that is not public, so it was not called. "+
			"Tell the user that this is not possible right now.")
	case mcp.Unresolvable:
		return failure.New(failure.Unresolvable,
			"The tool's host name does not resolve. Tell the user that this is not possible right now.")
	case mcp.TooLarge:
		return failure.New(failure.AnswerTooLarge, "The tool's answer is too large to be read.%s "+
			"Ask for less, or tell the user that this is not possible right now.", unclear)
	case mcp.Refused:
		return failure.New(failure.Tool, "The tool's server refused the call. Read its answer: if the arguments were wrong, "+
			"correct them and call the tool again; otherwise tell the user.")
	case mcp.Status:
		return httpcall.StatusFailure(failed.Status)
	case mcp.OtherOrigin:
		return failure.New(failure.RequestInvalid, "The tool's server announces an endpoint of another origin than its URL, "+
			"so it was not called. Tell the user that this is not possible right now.")
	case mcp.Protocol:
		return failure.New(failure.ConnectionFailed, "What answers at the tool's address does not speak MCP as it should.%s "+
			"Tell the user that this is not possible right now.", unclear)
	case mcp.Unreachable:
	}
	return failure.New(failure.ConnectionFailed, "The tool's server could not be reached, or the connection broke.%s "+
		"Tell the user that this is not possible right now; it may work later.", unclear)
}

// listError describes to an operator why a list could not be fetched.
func listError(err error, e Endpoint) error {
	failed, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return errors.New("its list of tools could not be read")
	}
	text := redact.New(e.secrets).Text(failed.Error())
	if failed.Status == http.StatusUnauthorized || failed.Status == http.StatusForbidden {
		text += "; check auth_header and secret_headers"
	}
	return errors.New(text)
}
