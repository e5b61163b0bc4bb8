package privacy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// pollInterval is how often a request is looked at that is being processed.
const pollInterval = 500 * time.Millisecond

// New makes the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "privacy", Short: "Export and erase what is kept about a user", GroupID: "use",
		Long: `What people may ask for: a copy of everything that is kept about them, and its erasure. A user is the user_id of
sessions. Without flags the commands work on the parlance dev of this machine.`,
		Example: `  parlance privacy export ada@example.org -o ada.zip
  parlance privacy verify ada.zip
  parlance privacy erase ada@example.org --dry-run
  parlance privacy erase ada@example.org --yes
  parlance privacy ls`,
	}
	calling := []*cobra.Command{newExport(), newErase(), newList(), newShow()}
	client.AddWorkspace(calling...)
	cmd.AddCommand(append(calling, newVerify())...)
	return cmd
}

// service is what the commands share.
type service struct {
	client.Caller
	privacy parlancev1connect.PrivacyServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, s *service, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *service {
		return &service{Caller: c, privacy: parlancev1connect.NewPrivacyServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

func newExport() *cobra.Command {
	var to string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "export USER", Short: "Export everything about a user into a ZIP file", Args: command.ExactArgs("USER"),
		Long: `Asks for an export, waits until it is made, and downloads it: conversations with their receipts and tool calls,
what agents remember, usage and events, as JSON with a manifest of hashes. The link that is printed is good for seven
days for whoever has it.`,
		Example: `  parlance privacy export ada@example.org -o ada.zip`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			done, err := s.process(ctx, args[0], "export")
			if err != nil {
				return err
			}
			if to != "" {
				if err := s.download(ctx, done, to); err != nil {
					return err
				}
			}
			if asJSON {
				return s.PrintMessage(done)
			}
			s.print(done)
			if to != "" {
				s.Line("saved as %s; compare it with its manifest: parlance privacy verify %s", to, to)
			}
			return nil
		}),
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "file to save the export as; without it only the link is printed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the request as a line of JSON")
	return cmd
}

func newErase() *cobra.Command {
	var dryRun, yes, asJSON bool
	cmd := &cobra.Command{
		Use: "erase USER", Short: "Erase everything about a user", Args: command.ExactArgs("USER"),
		Long: `Erases conversations, receipts, tool calls, memory, webhook events and earlier exports of a user, ends conversations
that are open, and counts what is left. It cannot be undone. Look at what there is first, with --dry-run.`,
		Example: `  parlance privacy erase ada@example.org --dry-run
  parlance privacy erase ada@example.org --yes`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			if !dryRun && !yes {
				return command.Usagef("it cannot be undone: look at what there is with --dry-run, then give --yes")
			}
			var done *parlancev1.PrivacyRequest
			var err error
			if dryRun {
				done, err = s.privacy.CreatePrivacyRequest(ctx, &parlancev1.CreatePrivacyRequestRequest{
					WorkspaceId: s.WorkspaceID, UserId: args[0], Kind: "erasure", DryRun: true,
				})
				if err != nil {
					err = s.Explain("count what is kept", err)
				}
			} else {
				done, err = s.process(ctx, args[0], "erasure")
			}
			if err != nil {
				return err
			}
			if asJSON {
				return s.PrintMessage(done)
			}
			s.print(done)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count what there is")
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the request as a line of JSON")
	return cmd
}

func newList() *cobra.Command {
	var o client.ListOptions
	var kind, status string
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List requests, newest first", Args: command.ExactArgs(),
		Example: `  parlance privacy ls --kind erasure --json | jq -r .id`,
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			return client.List(&s.Caller, o, client.Listing[*parlancev1.PrivacyRequest]{
				Pages: func(token string) ([]*parlancev1.PrivacyRequest, string, error) {
					page, err := s.privacy.ListPrivacyRequests(ctx, &parlancev1.ListPrivacyRequestsRequest{
						WorkspaceId: s.WorkspaceID, Kind: kind, Status: status, PageSize: client.PageSize, PageToken: token,
					})
					if err != nil {
						return nil, "", s.Explain("list the privacy requests", err)
					}
					return page.GetRequests(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "MADE"},
					{Title: "KIND"},
					{Title: "STATUS"},
					{Title: "USER", Shrinks: true},
					{Title: "SESSIONS", Right: true},
					{Title: "ID"},
				},
				Row: func(one *parlancev1.PrivacyRequest) []term.Cell {
					return []term.Cell{
						{Text: client.Moment(one.GetCreatedAt())},
						{Text: one.GetKind()},
						{Text: one.GetStatus()},
						{Text: userOf(one)},
						{Text: fmt.Sprint(one.GetCounts().GetSessions())},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: "There is no such request.",
			})
		}),
	}
	o.Add(cmd.Flags())
	cmd.Flags().StringVar(&kind, "kind", "", "only an export, or an erasure")
	cmd.Flags().StringVar(&status, "status", "", "only those that are queued, processing, ready or failed")
	return cmd
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show REQUEST", Short: "Show a request, with the link of an export or the certificate of an erasure",
		Args: command.ExactArgs("REQUEST"), Example: `  parlance privacy show dsar_01j…`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			one, err := s.privacy.GetPrivacyRequest(ctx, &parlancev1.GetPrivacyRequestRequest{WorkspaceId: s.WorkspaceID, RequestId: args[0]})
			if err != nil {
				return s.Explain("show "+args[0], err)
			}
			if asJSON {
				return s.PrintMessage(one)
			}
			s.print(one)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the request as a line of JSON")
	return cmd
}

func newVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE", Short: "Compare the files of an export with its manifest", Args: command.ExactArgs("FILE"),
		Example: `  parlance privacy verify ada.zip`,
		RunE: func(cmd *cobra.Command, args []string) error {
			said, err := verify(args[0])
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			cmd.Printf("%s is whole: %d files about %s as of %s\n",
				args[0], len(said.Files), term.Clean(said.UserID), said.AsOf.Format(time.RFC3339))
			return nil
		},
	}
}

// process makes a request and waits until it is done. Errors: it has failed.
func (s *service) process(ctx context.Context, userID, kind string) (*parlancev1.PrivacyRequest, error) {
	request, err := s.privacy.CreatePrivacyRequest(ctx, &parlancev1.CreatePrivacyRequestRequest{
		WorkspaceId: s.WorkspaceID, UserId: userID, Kind: kind,
	})
	if err != nil {
		return nil, s.Explain("ask for the "+kind, err)
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		switch request.GetStatus() {
		case "ready":
			return request, nil
		case "failed":
			return nil, fmt.Errorf("the %s %s failed: %s", kind, request.GetId(), term.Clean(request.GetError()))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("the %s goes on; see it with: parlance privacy show %s", kind, request.GetId())
		}
		request, err = s.privacy.GetPrivacyRequest(ctx, &parlancev1.GetPrivacyRequestRequest{
			WorkspaceId: s.WorkspaceID, RequestId: request.GetId(),
		})
		if err != nil {
			return nil, s.Explain("look at the "+kind, err)
		}
	}
}

// download saves the file of an export and compares it with the request.
func (s *service) download(ctx context.Context, request *parlancev1.PrivacyRequest, to string) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, request.GetDownloadUrl(), http.NoBody)
	if err != nil {
		return fmt.Errorf("the link of the export cannot be used: %w", err)
	}
	answer, err := s.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("download the export: %w; it is at %s", err, request.GetDownloadUrl())
	}
	defer func() { _ = answer.Body.Close() }() // only read
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("download the export: the server answers %s", answer.Status)
	}
	saved, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("save the export: %w", err)
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(saved, hash), answer.Body)
	if err := errors.Join(err, saved.Close()); err != nil {
		return fmt.Errorf("save the export: %w", err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != request.GetSha256() {
		return errors.New("save the export: it was changed on its way; run the command again")
	}
	return nil
}

// print shows a request to a person.
func (s *service) print(one *parlancev1.PrivacyRequest) {
	what := one.GetKind()
	if one.GetDryRun() {
		what = "dry run of an " + what
	}
	s.Screen.Line("%s: %s  %s", what, one.GetStatus(), s.Screen.Dim(one.GetId()))
	s.Fact("user", userOf(one))
	s.Fact("made", client.Moment(one.GetCreatedAt()))
	s.Fact("done", client.Moment(one.GetFinishedAt()))
	s.Fact("counts", counted(one.GetCounts()))
	s.Fact("error", term.Clean(one.GetError()))
	s.Fact("link", one.GetDownloadUrl())
	s.Fact("until", client.Moment(one.GetExpiresAt()))
	s.Fact("sha256", one.GetSha256())
	if certificate := one.GetCertificate(); certificate != nil {
		s.Fact("left", counted(certificate.GetRemaining()))
		for _, sentence := range certificate.GetNotCovered() {
			s.Fact("not covered", sentence)
		}
	}
}

// userOf is the user of a request, which has none when the user was erased.
func userOf(one *parlancev1.PrivacyRequest) string {
	if one.GetUserId() == "" {
		return "(erased)"
	}
	return term.Clean(one.GetUserId())
}

// counted lists counts in words.
func counted(c *parlancev1.PrivacyCounts) string {
	return fmt.Sprintf("%s, %s, %s, %s, %s (%d undelivered), %s, %s", term.Count(int(c.GetSessions()), "session", "sessions"),
		term.Count(int(c.GetTurns()), "turn", "turns"), term.Count(int(c.GetToolCalls()), "tool call", "tool calls"),
		term.Count(int(c.GetMemories()), "memory", "memories"), term.Count(int(c.GetEvents()), "event", "events"), c.GetUndelivered(),
		term.Count(int(c.GetAnswers()), "kept answer", "kept answers"), term.Count(int(c.GetExports()), "export", "exports"))
}
