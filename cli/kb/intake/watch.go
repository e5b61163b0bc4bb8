package intake

import (
	"context"

	"parlance.dev/parlance/cli/client"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/ticker"
)

// maxBreaks is how many failures in a row end the watching of a source.
const maxBreaks = 10

// Watch calls see for each change of a source until the ingestion has ended, and returns the final
// state. It reconnects when the connection breaks, for example while a server restarts. Errors:
// that of ctx or of the call.
func Watch(ctx context.Context, service parlancev1connect.KnowledgeServiceClient, workspaceID, sourceID string,
	see func(*parlancev1.Source),
) (*parlancev1.Source, error) {
	for breaks := 1; ; breaks++ {
		last, err := watchOnce(ctx, service, workspaceID, sourceID, func(source *parlancev1.Source) {
			breaks = 0
			see(source)
		})
		switch {
		case last != nil && finished(last):
			return last, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && (client.IsFinal(err) || breaks >= maxBreaks):
			return nil, err
		}
		if err := ticker.Wait(ctx, retryDelay(0, max(breaks, 1))); err != nil {
			return nil, err
		}
	}
}

func watchOnce(ctx context.Context, service parlancev1connect.KnowledgeServiceClient, workspaceID, sourceID string,
	see func(*parlancev1.Source),
) (last *parlancev1.Source, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream
	stream, err := service.WatchSource(ctx, &parlancev1.WatchSourceRequest{WorkspaceId: workspaceID, SourceId: sourceID})
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // the stream has ended
	for stream.Receive() {
		last = stream.Msg().GetSource()
		see(last)
	}
	return last, stream.Err()
}

// finished reports whether the ingestion has ended.
func finished(source *parlancev1.Source) bool {
	return source.GetStatus() == "ready" || source.GetStatus() == "failed"
}
