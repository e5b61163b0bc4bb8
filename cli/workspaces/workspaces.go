package workspaces

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "workspaces", Short: "List, make, rename and delete the workspaces of a tenant", GroupID: "use",
		Long: `A workspace holds agents, tools, sources and webhook endpoints. Without flags the commands work on the parlance
dev of this machine. To make, rename and delete takes a key of scope admin.`,
		Example: `  parlance workspaces ls
  parlance workspaces create staging --json | jq -r .id`,
	}
	cmd.AddCommand(newList(), newShow(), newCreate(), newUpdate(), newRemove())
	for _, sub := range cmd.Commands() {
		client.AddInstallation(sub)
	}
	return cmd
}

// service is what the commands share.
type service struct {
	client.Caller
	workspaces parlancev1connect.WorkspaceServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, s *service, args []string) error) func(*cobra.Command, []string) error {
	return client.WithInstallation(func(c client.Caller) *service {
		return &service{Caller: c, workspaces: parlancev1connect.NewWorkspaceServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

func newList() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the workspaces that the key may see, oldest first", Args: command.ExactArgs(),
		Example: "  parlance workspaces ls --json | jq -r .id",
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			return client.List(&s.Caller, o, client.Listing[*parlancev1.Workspace]{
				Pages: func(token string) ([]*parlancev1.Workspace, string, error) {
					page, err := s.workspaces.ListWorkspaces(ctx, &parlancev1.ListWorkspacesRequest{PageSize: client.PageSize, PageToken: token})
					if err != nil {
						return nil, "", s.Explain("list the workspaces", err)
					}
					return page.GetWorkspaces(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{{Title: "NAME", Shrinks: true}, {Title: "KNOWLEDGE", Right: true}, {Title: "MADE", Drops: 1}, {Title: "ID"}},
				Row: func(one *parlancev1.Workspace) []term.Cell {
					return []term.Cell{
						{Text: term.Clean(one.GetName())},
						{Text: term.Bytes(one.GetKbUsedBytes())},
						{Text: client.Moment(one.GetCreatedAt())},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: "There is no workspace. Make one: parlance workspaces create NAME",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show [WORKSPACE]", Aliases: []string{"get"}, Short: "Show a workspace", Args: command.AtMostOneArg,
		Long:    "Shows a workspace; without an argument the one of " + command.EnvWorkspace + ".",
		Example: "  parlance workspaces show ws_01j… --json | jq .kb_used_bytes",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			id := s.WorkspaceID
			if len(args) > 0 {
				id = args[0]
			}
			if id == "" {
				return command.Usagef("WORKSPACE is missing")
			}
			one, err := s.workspaces.GetWorkspace(ctx, &parlancev1.GetWorkspaceRequest{WorkspaceId: id})
			if err != nil {
				return s.Explain("find the workspace", err)
			}
			return s.print(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the workspace as a line of JSON")
	return cmd
}

func (s *service) print(one *parlancev1.Workspace, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(one)
	}
	s.Screen.Line("%s  %s", s.Screen.Strong(term.Clean(one.GetName())), s.Screen.Dim(one.GetId()))
	s.Fact("tenant", one.GetTenantId())
	s.Fact("knowledge", term.Bytes(one.GetKbUsedBytes()))
	s.Fact("kept", keptWords(one.GetRetention().GetTranscriptDays()))
	if days := one.GetRetention().GetAudioDays(); days > 0 {
		s.Fact("audio kept", fmt.Sprintf("recordings for %d days after the session's end", days))
	}
	s.Fact("made", client.Moment(one.GetCreatedAt()))
	return nil
}

func keptWords(days int32) string {
	if days == 0 {
		return "sessions for ever"
	}
	return fmt.Sprintf("sessions for %d days after their end", days)
}

func newCreate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make a workspace", Args: command.ExactArgs("NAME"),
		Example: "  parlance workspaces create staging --json | jq -r .id",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			made, err := s.workspaces.CreateWorkspace(ctx, &parlancev1.CreateWorkspaceRequest{Name: args[0]})
			if err != nil {
				return s.Explain("make the workspace", err)
			}
			return s.print(made, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the workspace as a line of JSON")
	return cmd
}

func newUpdate() *cobra.Command {
	var name string
	var days, audioDays int32
	var asJSON bool
	cmd := &cobra.Command{
		Use: "update WORKSPACE", Short: "Rename a workspace, and say how long its sessions are kept", Args: command.ExactArgs("WORKSPACE"),
		Example: `  parlance workspaces update ws_01j… --name production
  parlance workspaces update ws_01j… --transcript-days 90`,
	}
	cmd.RunE = with(func(ctx context.Context, s *service, args []string) error {
		req := &parlancev1.UpdateWorkspaceRequest{WorkspaceId: args[0], UpdateMask: &fieldmaskpb.FieldMask{}}
		if name != "" {
			req.Name, req.UpdateMask.Paths = &name, append(req.UpdateMask.Paths, "name")
		}
		req.Retention = &parlancev1.RetentionSettings{TranscriptDays: days, AudioDays: audioDays}
		for flag, path := range map[string]string{"transcript-days": "retention.transcript_days", "audio-days": "retention.audio_days"} {
			if cmd.Flags().Changed(flag) {
				req.UpdateMask.Paths = append(req.UpdateMask.Paths, path)
			}
		}
		if len(req.GetUpdateMask().GetPaths()) == 0 {
			return command.Usagef("nothing is to change: give --name, --transcript-days or --audio-days")
		}
		changed, err := s.workspaces.UpdateWorkspace(ctx, req)
		if err != nil {
			return s.Explain("change the workspace", err)
		}
		return s.print(changed, asJSON)
	})
	cmd.Flags().StringVar(&name, "name", "", "its new name")
	cmd.Flags().Int32Var(&days, "transcript-days", 0,
		"how many days after their end sessions are deleted, also those that there are; 0 keeps them for ever")
	cmd.Flags().Int32Var(&audioDays, "audio-days", 0,
		"how many days after their session's end recordings are deleted, also those that there are; 0 keeps them as long as the session")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the workspace as a line of JSON")
	return cmd
}

func newRemove() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "rm WORKSPACE", Aliases: []string{"remove", "delete"}, Short: "Delete a workspace with everything in it; it cannot be undone",
		Args:    command.ExactArgs("WORKSPACE"),
		Example: "  parlance workspaces rm ws_01j… --yes",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			if !sure {
				return command.Usagef("this removes everything of %s: add --yes to do it", args[0])
			}
			if _, err := s.workspaces.DeleteWorkspace(ctx, &parlancev1.DeleteWorkspaceRequest{WorkspaceId: args[0]}); err != nil {
				return s.Explain("delete the workspace", err)
			}
			s.Line("deleted %s", args[0])
			return nil
		}),
	}
	cmd.Flags().BoolVar(&sure, "yes", false, "really do it")
	return cmd
}
