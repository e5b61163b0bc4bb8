package chat

import (
	"context"
	"io"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// AtTerminal chats as if a person typed the lines of in.
func AtTerminal(ctx context.Context, where client.Installation, in io.Reader, out, errs io.Writer) error {
	http, err := where.Client()
	if err != nil {
		return err
	}
	defer http.CloseIdleConnections()
	talk := &chat{
		installation: where, in: in, out: out, err: errs, turns: map[string]bool{}, terminal: true,
		sessions: parlancev1connect.NewSessionServiceClient(http, where.Base, where.Options()...),
	}
	return talk.run(ctx)
}
