package cli

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "List, export and verify the log of what operators and keys changed", GroupID: "admin",
		Long: `list and export call the API with an admin key. verify works on the database, or on a file that export has written.

Entries cannot be changed: each holds the hash of the one before it. See docs/audit.md.`,
		Example: `  parlance audit list --action api_key.
  parlance audit export > audit.ndjson
  parlance audit verify --file audit.ndjson
  parlance audit verify --tenant ten_01j… --expect-head 5f2b…@1042`,
	}
	overAPI := []*cobra.Command{newAuditList(), newAuditExport()}
	for _, sub := range overAPI {
		client.AddInstallation(sub)
	}
	cmd.AddCommand(overAPI...)
	cmd.AddCommand(newAuditVerify())
	return cmd
}

// auditLog is what the commands that call the API work with.
type auditLog struct {
	client.Caller
	service parlancev1connect.AuditServiceClient
}

// withAudit makes the RunE of a command that calls the API.
func withAudit(run func(ctx context.Context, l *auditLog, args []string) error) func(*cobra.Command, []string) error {
	return client.WithInstallation(func(c client.Caller) *auditLog {
		return &auditLog{c, parlancev1connect.NewAuditServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

func newAuditList() *cobra.Command {
	var o client.ListOptions
	var req parlancev1.ListAuditEntriesRequest
	var since, until string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List entries, newest first", Args: command.ExactArgs(),
		Example: "  parlance audit list --action agent. --since 2026-11-01T00:00:00Z\n" +
			"  parlance audit list --resource agt_01j… --json | jq .after",
		RunE: withAudit(func(ctx context.Context, l *auditLog, _ []string) (err error) {
			if req.Since, err = momentFlag("since", since); err != nil {
				return err
			}
			if req.Until, err = momentFlag("until", until); err != nil {
				return err
			}
			return l.list(ctx, o, &req)
		}),
	}
	flags := cmd.Flags()
	o.Add(flags)
	flags.StringVar(&req.WorkspaceId, "workspace", "", "only entries about this workspace, ws_…")
	flags.StringVar(&req.Actor, "actor", "", "only entries of this key, key_…, or user of a command")
	flags.StringVar(&req.Action, "action", "", `only actions that begin with this, such as "agent." or "agent.update"`)
	flags.StringVar(&req.ResourceId, "resource", "", "only entries about this resource or something in it")
	flags.StringVar(&req.UserId, "user", "", "only entries about this end user, as sessions name it")
	flags.StringVar(&since, "since", "", "only entries from this time on, such as 2026-11-30T00:00:00Z")
	flags.StringVar(&until, "until", "", "only entries before this time")
	return cmd
}

// momentFlag reads a time. An empty text is no time.
func momentFlag(name, text string) (*timestamppb.Timestamp, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, command.Usagef("--%s %q is not a time: give one such as 2026-11-30T00:00:00Z", name, text)
	}
	return timestamppb.New(at), nil
}

func (l *auditLog) list(ctx context.Context, o client.ListOptions, req *parlancev1.ListAuditEntriesRequest) error {
	return client.List(&l.Caller, o, client.Listing[*parlancev1.AuditEntry]{
		Pages: func(token string) ([]*parlancev1.AuditEntry, string, error) {
			req.PageSize, req.PageToken = client.PageSize, token
			page, err := l.service.ListAuditEntries(ctx, req)
			if err != nil {
				return nil, "", l.Explain("list the audit log", err)
			}
			return page.GetEntries(), page.GetNextPageToken(), nil
		},
		Columns: []term.Column{
			{Title: "AT"},
			{Title: "NUMBER", Right: true, Drops: 1},
			{Title: "ACTOR", Shrinks: true},
			{Title: "ACTION"},
			{Title: "RESOURCE"},
			{Title: "OUTCOME"},
			{Title: "FROM", Drops: 2},
		},
		Row: func(e *parlancev1.AuditEntry) []term.Cell {
			return []term.Cell{
				{Text: client.Moment(e.GetAt())},
				{Text: strconv.FormatUint(uint64(e.GetNumber()), 10)},
				{Text: term.Clean(e.GetActorName())},
				{Text: e.GetAction()},
				{Text: term.Clean(e.GetResourceId())},
				{Text: e.GetOutcome()},
				{Text: e.GetRemoteAddress()},
			}
		},
		Empty: "There is no such entry.",
	})
}

func newAuditExport() *cobra.Command {
	var after uint32
	cmd := &cobra.Command{
		Use: "export", Short: "Print every entry as a line of JSON, oldest first", Args: command.ExactArgs(),
		Long: `Prints the lines that are hashed. Anybody can verify them, also without Parlance: docs/audit.md has the program.

The first line of a whole export is entry 1. With --after the export is the part after an entry.`,
		Example: "  parlance audit export > audit.ndjson\n  parlance audit export --after 1042 >> audit.ndjson",
		RunE: withAudit(func(ctx context.Context, l *auditLog, _ []string) error {
			stream, err := l.service.ExportAuditLog(ctx, &parlancev1.ExportAuditLogRequest{AfterNumber: after})
			if err != nil {
				return l.Explain("export the audit log", err)
			}
			defer func() { _ = stream.Close() }() // only read
			return l.print(stream)
		}),
	}
	cmd.Flags().Uint32Var(&after, "after", 0, "only entries after this number")
	return cmd
}

// print prints the lines of an export.
func (l *auditLog) print(stream *connect.ServerStreamForClient[parlancev1.ExportAuditLogResponse]) error {
	for stream.Receive() {
		if _, err := l.Screen.Out.Write(stream.Msg().GetLine()); err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return l.Explain("export the audit log", err)
	}
	return nil
}

// commandActor is the user of the operating system, who makes changes on the database.
func commandActor() audit.Actor {
	actor := audit.Actor{Kind: audit.ActorCommand, Name: "uid " + strconv.Itoa(os.Getuid())}
	if known, err := user.Current(); err == nil {
		actor.Name = known.Username
	}
	return actor
}

// recorded says that a change was made whose entry could not be written.
func recorded(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the change was made, but it is not in the audit log: %w", err)
}
