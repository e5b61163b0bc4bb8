package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/workspaces"
)

// maxPlanBytes bounds the JSON of a plan.
const maxPlanBytes = 1 << 20

func newPlans() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plans", Short: "List and change the plans that tenants can be on", GroupID: "admin",
		Long: `A plan says what a tenant may use. free, pro and enterprise are built in; PARLANCE_PLANS_FILE replaces them, and plans
that are set here, in the database, take the place of those or are added to them. All servers and workers apply a change within
seconds. docs/operations.md describes the members of a plan.`,
		Example: `  parlance plans list
  parlance plans show pro > pro.json
  parlance plans set pro --file pro.json
  parlance plans delete pro                # the one of the configuration applies again`,
	}
	cmd.AddCommand(newPlansList(), newPlansShow(), newPlansSet(), newPlansDelete())
	for _, sub := range cmd.Commands() {
		command.AddSettings(sub)
		command.AddDataDir(sub)
	}
	return cmd
}

func newPlansList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the plans with their limits", Args: command.ExactArgs(),
		RunE: withTenancy(func(cmd *cobra.Command, _ []string, t tenancy) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "PLAN\tSTORAGE\tUPLOAD\tSESSIONS AT ONCE\tHAS\tMONTHLY")
			plans := t.Plans()
			for _, name := range plans.Names() {
				p := plans[name]
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", name,
					humanize.IBytes(uint64(p.KBStorageBytes)), humanize.IBytes(uint64(p.KBUploadBytes)),
					orNoLimit(p.ConcurrentSessions), entitlements(p), quotas(p))
			}
			return table.Flush()
		}),
	}
}

func orNoLimit(n int) string {
	if n == 0 {
		return "no limit"
	}
	return strconv.Itoa(n)
}

// entitlements are what a plan has beside quotas, in words.
func entitlements(p workspaces.Plan) string {
	var has []string
	if p.Tools {
		has = append(has, "tools")
	}
	if p.MCP {
		has = append(has, "mcp")
	}
	if len(p.Models) > 0 {
		has = append(has, "models "+strings.Join(p.Models, " "))
	}
	return strings.Join(has, ", ")
}

func quotas(p workspaces.Plan) string {
	var each []string
	for _, meter := range slices.Sorted(maps.Keys(p.Monthly)) {
		each = append(each, humanize.Comma(p.Monthly[meter])+" "+meter)
	}
	return strings.Join(each, ", ")
}

func newPlansShow() *cobra.Command {
	return &cobra.Command{
		Use: "show PLAN", Short: "Print a plan as JSON, as set takes it", Args: command.ExactArgs("PLAN"),
		RunE: withTenancy(func(cmd *cobra.Command, args []string, t tenancy) error {
			plans := t.Plans()
			plan, ok := plans[args[0]]
			if !ok {
				return fmt.Errorf("there is no plan %q, but %s", args[0], strings.Join(plans.Names(), ", "))
			}
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetIndent("", "  ")
			return encoder.Encode(plan)
		}),
	}
}

func newPlansSet() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "set PLAN", Short: "Make a plan, or replace one, by a file of JSON", Args: command.ExactArgs("PLAN"),
		Long: `Stores the definition of a plan in the database. It replaces a plan of the same name as a whole: what the file leaves out is
not limited, or not included. Tenants that use more than a smaller plan allows keep what they have, and get no more.`,
		Example: `  echo '{"kb_storage_bytes": 52428800, "kb_upload_bytes": 10485760, "tools": true, "monthly": {"turns": 1000}}' |
    parlance plans set small --file -`,
		RunE: withTenancy(func(cmd *cobra.Command, args []string, t tenancy) error {
			definition, err := readPlan(cmd, file)
			if err != nil {
				return err
			}
			plan, err := t.PutPlan(cmd.Context(), args[0], definition)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The plan %s is set.\n", plan.Name)
			return err
		}),
	}
	cmd.Flags().StringVar(&file, "file", "", "file with the JSON of the plan; - reads standard input")
	return cmd
}

func readPlan(cmd *cobra.Command, file string) ([]byte, error) {
	if file == "" {
		return nil, command.Usagef("say with --file where the plan is; `parlance plans show free` prints one")
	}
	in := cmd.InOrStdin()
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer opened.Close() //nolint:errcheck // it was only read
		in = opened
	}
	definition, err := io.ReadAll(io.LimitReader(in, maxPlanBytes+1))
	if err == nil && len(definition) > maxPlanBytes {
		err = errors.New("a plan has at most 1 MiB")
	}
	return definition, err
}

func newPlansDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete PLAN", Short: "Delete a plan of the database; one of the configuration applies again", Args: command.ExactArgs("PLAN"),
		RunE: withTenancy(func(cmd *cobra.Command, args []string, t tenancy) error {
			if err := t.DeletePlan(cmd.Context(), args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "The plan %s is deleted.\n", args[0])
			return err
		}),
	}
}
