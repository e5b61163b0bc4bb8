package people

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// New makes the command about people.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "people", Short: "See who signs in at the console, and change what they may do", GroupID: "admin",
		Long: `People sign in at the console by OpenID Connect and get a role from their groups: owner, operator, analyst or
billing. See docs/people.md. The commands need a key of scope admin. Without flags they work on the parlance dev of this
machine.`,
		Example: `  parlance people list
  parlance people set-role per_01j… analyst
  parlance people disable per_01j…`,
	}
	cmd.AddCommand(newList(), newShow(), newSetRole(), newDisable(), newEnable(), newDelete())
	for _, sub := range cmd.Commands() {
		client.AddInstallation(sub)
	}
	return cmd
}

// service is what the commands share.
type service struct {
	client.Caller
	people parlancev1connect.PeopleServiceClient
}

// with makes the RunE of a command.
func with(run func(ctx context.Context, s *service, args []string) error) func(*cobra.Command, []string) error {
	return client.WithInstallation(func(c client.Caller) *service {
		return &service{Caller: c, people: parlancev1connect.NewPeopleServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

func newList() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List people, the last to have signed in first", Args: command.ExactArgs(),
		Example: "  parlance people list --json | jq -r '[.name, .role] | @tsv'",
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			return client.List(&s.Caller, o, client.Listing[*parlancev1.Person]{
				Pages: func(token string) ([]*parlancev1.Person, string, error) {
					page, err := s.people.ListPeople(ctx, &parlancev1.ListPeopleRequest{PageSize: client.PageSize, PageToken: token})
					if err != nil {
						return nil, "", s.Explain("list the people", err)
					}
					return page.GetPeople(), page.GetNextPageToken(), nil
				},
				Columns: []term.Column{
					{Title: "NAME", Shrinks: true}, {Title: "EMAIL", Drops: 1}, {Title: "ROLE"}, {Title: "SIGNED IN", Drops: 2}, {Title: "ID"},
				},
				Row: func(one *parlancev1.Person) []term.Cell {
					return []term.Cell{
						{Text: term.Clean(one.GetName())},
						{Text: term.Clean(one.GetEmail())},
						{Text: roleWords(one)},
						{Text: client.Moment(one.GetSignedInAt())},
						{Text: one.GetId(), Paint: s.Screen.Dim},
					}
				},
				Empty: "Nobody has signed in yet.",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

// roleWords is the role, or that the person is shut out.
func roleWords(one *parlancev1.Person) string {
	if one.GetDisabled() {
		return one.GetRole() + " (disabled)"
	}
	return one.GetRole()
}

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show PERSON", Aliases: []string{"get"}, Short: "Show a person", Args: command.ExactArgs("PERSON"),
		Example: "  parlance people show per_01j… --json | jq .groups",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			one, err := s.people.GetPerson(ctx, &parlancev1.GetPersonRequest{PersonId: args[0]})
			if err != nil {
				return s.Explain("find the person", err)
			}
			return s.print(one, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the person as a line of JSON")
	return cmd
}

func (s *service) print(one *parlancev1.Person, asJSON bool) error {
	if asJSON {
		return s.PrintMessage(one)
	}
	s.Screen.Line("%s  %s", s.Screen.Strong(term.Clean(one.GetName())), s.Screen.Dim(one.GetId()))
	s.Fact("email", term.Clean(one.GetEmail()))
	s.Fact("role", roleWords(one))
	s.Fact("by groups", one.GetGroupRole())
	s.Fact("assigned", cmp.Or(one.GetAssignedRole(), "no"))
	s.Fact("groups", term.Clean(strings.Join(one.GetGroups(), ", ")))
	s.Fact("issuer", term.Clean(one.GetIssuer()))
	s.Fact("signed in", client.Moment(one.GetSignedInAt()))
	return nil
}

func newSetRole() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "set-role PERSON ROLE", Short: "Give a person another role than their groups do", Args: command.ExactArgs("PERSON", "ROLE"),
		Long: `ROLE is owner, operator, analyst, billing or none; groups goes back to the role that the groups give. It counts at
once, also for somebody who is signed in.`,
		Example: `  parlance people set-role per_01j… analyst
  parlance people set-role per_01j… groups`,
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			role := args[1]
			if role == "groups" {
				role = ""
			}
			return s.update(ctx, &parlancev1.UpdatePersonRequest{
				PersonId: args[0], AssignedRole: &role, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"assigned_role"}},
			}, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the person as a line of JSON")
	return cmd
}

func newDisable() *cobra.Command {
	return newSwitch("disable", "Sign a person out and do not let them in again", true)
}

func newEnable() *cobra.Command {
	return newSwitch("enable", "Let a person in again who was disabled", false)
}

// newSwitch makes the command that shuts a person out, or lets them in.
func newSwitch(verb, short string, disabled bool) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: verb + " PERSON", Short: short, Args: command.ExactArgs("PERSON"),
		Example: "  parlance people " + verb + " per_01j…",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			return s.update(ctx, &parlancev1.UpdatePersonRequest{
				PersonId: args[0], Disabled: &disabled, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"disabled"}},
			}, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the person as a line of JSON")
	return cmd
}

func (s *service) update(ctx context.Context, req *parlancev1.UpdatePersonRequest, asJSON bool) error {
	one, err := s.people.UpdatePerson(ctx, req)
	if err != nil {
		return s.Explain("change the person", err)
	}
	return s.print(one, asJSON)
}

func newDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete PERSON", Aliases: []string{"rm"}, Short: "Sign a person out and forget them", Args: command.ExactArgs("PERSON"),
		Long: `Signs a person out and forgets them. Whoever may still sign in at the issuer appears again when they do, with the role
that their groups give: disable them instead.`,
		Example: "  parlance people delete per_01j…",
		RunE: with(func(ctx context.Context, s *service, args []string) error {
			if _, err := s.people.DeletePerson(ctx, &parlancev1.DeletePersonRequest{PersonId: args[0]}); err != nil {
				return s.Explain("delete the person", err)
			}
			s.Line("deleted %s", args[0])
			return nil
		}),
	}
}

// NewWhoAmI makes the command that says who is calling.
func NewWhoAmI() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show whose key this is, and what it may do", GroupID: "use", Args: command.ExactArgs(),
		Long:    "Shows the key that is used, its scope and its tenant. Without flags that is the one of the parlance dev of this machine.",
		Example: "  parlance whoami --json | jq -r .scope",
		RunE: with(func(ctx context.Context, s *service, _ []string) error {
			caller, err := s.people.GetCaller(ctx, &parlancev1.GetCallerRequest{})
			if err != nil {
				return s.Explain("ask who is calling", err)
			}
			if asJSON {
				return s.PrintMessage(caller)
			}
			s.Screen.Line("%s  %s", s.Screen.Strong(term.Clean(caller.GetName())), s.Screen.Dim(caller.GetId()))
			s.Fact("scope", caller.GetScope())
			s.Fact("tenant", term.Clean(caller.GetTenantName())+" "+caller.GetTenantId())
			s.Fact("workspace", cmp.Or(caller.GetWorkspaceId(), "all"))
			s.Fact("plan", caller.GetPlan())
			return nil
		}),
	}
	client.AddInstallation(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the caller as a line of JSON")
	return cmd
}
