package intake

import (
	"context"
	"errors"
	"net/url"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// maxBreaks is how often in a row watching a source may fail before it is given up.
const maxBreaks = 10

// Watch calls see with the source as its ingestion goes on, until it is ready or failed, and
// returns it as it is then. It goes on when the connection breaks, as in a restart of the server.
// Errors: ctx's, the call's.
func Watch(ctx context.Context, client parlancev1connect.KnowledgeServiceClient, workspaceID, sourceID string,
	see func(*parlancev1.Source),
) (*parlancev1.Source, error) {
	for breaks := 1; ; breaks++ {
		last, err := watchOnce(ctx, client, workspaceID, sourceID, func(source *parlancev1.Source) {
			breaks = 0
			see(source)
		})
		switch {
		case last != nil && settled(last):
			return last, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && (isFinal(err) || breaks >= maxBreaks):
			return nil, err
		}
		if err := sleep(ctx, patience(0, max(breaks, 1))); err != nil {
			return nil, err
		}
	}
}

func watchOnce(ctx context.Context, client parlancev1connect.KnowledgeServiceClient, workspaceID, sourceID string,
	see func(*parlancev1.Source),
) (last *parlancev1.Source, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream
	stream, err := client.WatchSource(ctx, &parlancev1.WatchSourceRequest{WorkspaceId: workspaceID, SourceId: sourceID})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // it is over
	for stream.Receive() {
		last = stream.Msg().GetSource()
		see(last)
	}
	return last, stream.Err()
}

// settled says whether the ingestion is over.
func settled(source *parlancev1.Source) bool {
	return source.GetStatus() == "ready" || source.GetStatus() == "failed"
}

// isFinal says whether asking again would get the same answer.
func isFinal(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeNotFound, connect.CodePermissionDenied, connect.CodeUnauthenticated, connect.CodeInvalidArgument,
		connect.CodeUnimplemented:
		return true
	default:
		return false
	}
}

// unaddressed is an error of an HTTP client without the address, which the caller knows.
func unaddressed(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
