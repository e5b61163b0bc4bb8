package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// usageColumns is how wide the part of a quota that is used is drawn.
const usageColumns = 20

// usageReader is what the commands about usage work with.
type usageReader struct {
	client.Caller
	service parlancev1connect.UsageServiceClient
}

// withUsage makes the RunE of a command about usage.
func withUsage(run func(ctx context.Context, u *usageReader, args []string) error) func(*cobra.Command, []string) error {
	return client.WithInstallation(func(c client.Caller) *usageReader {
		return &usageReader{c, parlancev1connect.NewUsageServiceClient(c.HTTP, c.Base, c.Options()...)}
	}, run)
}

func newUsage() *cobra.Command {
	var req parlancev1.GetUsageRequest
	var meter string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "usage", Short: "Show what was used this month, and what the plan allows", GroupID: "admin", Args: command.ExactArgs(),
		Long: `Shows a month of usage with the plan's quotas, and the days of one meter as a plot. See docs/billing.md.`,
		Example: `  parlance usage
  parlance usage --month 2026-10 --workspace ws_01j…
  parlance usage alerts add --meter tokens --quantity 1000000`,
		RunE: withUsage(func(ctx context.Context, u *usageReader, _ []string) error { return u.show(ctx, &req, meter, asJSON) }),
	}
	client.AddInstallation(cmd)
	flags := cmd.Flags()
	flags.StringVar(&req.Month, "month", "", "year and month, such as 2026-11; the present one")
	flags.StringVar(&req.WorkspaceId, "workspace", "", "only what this workspace has used, ws_…")
	flags.StringVar(&req.AgentId, "agent", "", "only what this agent has used, agt_…")
	flags.StringVar(&meter, "meter", "turns", "what the plot shows, such as turns, sessions or output_tokens")
	flags.BoolVar(&asJSON, "json", false, "print the month as a line of JSON")
	cmd.AddCommand(newUsageAlerts())
	return cmd
}

// show prints a month and a plot of its last days.
func (u *usageReader) show(ctx context.Context, req *parlancev1.GetUsageRequest, meter string, asJSON bool) error {
	month, err := u.service.GetUsage(ctx, req)
	if err != nil {
		return u.Explain("read the usage", err)
	}
	if asJSON {
		return u.PrintMessage(month)
	}
	days, err := u.days(ctx, req, meter)
	if err != nil {
		return u.Explain("read the usage by day", err)
	}
	u.Line("%s  %s", u.Screen.Strong(month.GetMonth()), u.Screen.Dim("plan "+month.GetPlan()+", "+month.GetTimezone()))
	var rows [][]term.Cell
	for _, m := range month.GetMeters() {
		if m.GetQuantity() == 0 && m.GetLimit() == 0 {
			continue
		}
		limit, bar := "no limit", ""
		if m.GetLimit() > 0 {
			limit = amount(m.GetMeter(), m.GetLimit())
			bar = u.Screen.Bar(m.GetPercent()/100, usageColumns) + fmt.Sprintf(" %.0f %%", m.GetPercent())
		}
		if on := m.GetLimitReachedOn(); on != "" {
			bar += "  used up on " + on
		}
		if more := m.GetPlanWithMore(); more != "" && m.GetPercent() >= 80 {
			bar += "  more with " + more
		}
		rows = append(rows, []term.Cell{
			{Text: m.GetMeter()}, {Text: amount(m.GetMeter(), m.GetQuantity())}, {Text: limit}, {Text: bar},
		})
	}
	columns := []term.Column{{Title: "METER"}, {Title: "USED", Right: true}, {Title: "LIMIT", Right: true}, {Title: ""}}
	for _, line := range u.Screen.Table(columns, rows) {
		u.Line("%s", line)
	}
	u.limits(month)
	if month.GetCurrency() != "" {
		u.Line("cost  %s %s", month.GetCost(), month.GetCurrency())
	}
	u.plot(days, meter)
	return nil
}

// limits prints what the plan allows beside quotas.
func (u *usageReader) limits(month *parlancev1.Usage) {
	if len(month.GetLimits()) == 0 {
		return
	}
	var rows [][]term.Cell
	for _, l := range month.GetLimits() {
		limit, used, more := "no limit", "", ""
		if l.GetLimit() > 0 {
			limit = amount(l.GetName(), l.GetLimit())
		}
		if l.Used != nil {
			used = amount(l.GetName(), l.GetUsed())
		}
		if l.GetPlanWithMore() != "" {
			more = "more with " + l.GetPlanWithMore()
		}
		rows = append(rows, []term.Cell{{Text: l.GetName()}, {Text: used}, {Text: limit}, {Text: more}})
	}
	columns := []term.Column{{Title: "LIMIT OF THE PLAN"}, {Title: "NOW", Right: true}, {Title: "LIMIT", Right: true}, {Title: ""}}
	for _, line := range u.Screen.Table(columns, rows) {
		u.Line("%s", line)
	}
}

// amount writes a quantity for people.
func amount(meter string, quantity float64) string {
	if strings.HasSuffix(meter, "_bytes") {
		return humanize.IBytes(uint64(max(0, quantity)))
	}
	return humanize.Comma(int64(quantity))
}

// dayUse is what was used on a day.
type dayUse struct {
	day      string
	quantity float64
}

// days reads the days of a meter with any use: those of the month that was asked for, or else the
// last 30. tokens is the sum of two meters.
func (u *usageReader) days(ctx context.Context, req *parlancev1.GetUsageRequest, meter string) ([]dayUse, error) {
	asked := &parlancev1.ListUsageDaysRequest{WorkspaceId: req.GetWorkspaceId(), AgentId: req.GetAgentId(), Meter: meter}
	if meter == "tokens" {
		asked.Meter = ""
	}
	if first, err := time.Parse("2006-01", req.GetMonth()); err == nil {
		asked.From, asked.To = first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly)
	}
	answer, err := u.service.ListUsageDays(ctx, asked)
	if err != nil {
		return nil, err
	}
	var days []dayUse
	for _, row := range answer.GetRows() {
		switch {
		case meter == "tokens" && !strings.HasSuffix(row.GetMeter(), "_tokens"):
		case len(days) > 0 && days[len(days)-1].day == row.GetDay():
			days[len(days)-1].quantity += row.GetQuantity()
		default:
			days = append(days, dayUse{row.GetDay(), row.GetQuantity()})
		}
	}
	return days, nil
}

// plot draws the days of a meter, one column each.
func (u *usageReader) plot(days []dayUse, meter string) {
	if len(days) == 0 {
		u.Line("%s", u.Screen.Dim("no "+meter+" in these days"))
		return
	}
	most := 0.0
	for _, one := range days {
		most = max(most, one.quantity)
	}
	var columns strings.Builder
	for _, one := range days {
		columns.WriteString(level(one.quantity, most))
	}
	u.Line("%s  %s  %s", u.Screen.Dim(meter+" by day with any, "+days[0].day), u.Screen.Busy(columns.String()),
		u.Screen.Dim(days[len(days)-1].day+", at most "+amount(meter, most)))
}

// levels are the heights of a column of a plot.
var levels = []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// level is the column of a quantity among others of which most is the largest.
func level(quantity, most float64) string {
	if most <= 0 || quantity <= 0 {
		return levels[0]
	}
	return levels[min(len(levels)-1, int(quantity/most*float64(len(levels))))]
}

func newUsageAlerts() *cobra.Command {
	cmd := &cobra.Command{
		Use: "alerts", Aliases: []string{"alert"}, Short: "List, add and remove alerts, which send usage.threshold once a month",
		Example: `  parlance usage alerts add --meter turns --percent 90
  parlance usage alerts rm ual_01j…`,
	}
	subs := []*cobra.Command{newUsageAlertsList(), newUsageAlertsAdd(), newUsageAlertsRemove()}
	for _, sub := range subs {
		client.AddInstallation(sub)
	}
	cmd.AddCommand(subs...)
	return cmd
}

func newUsageAlertsList() *cobra.Command {
	var o client.ListOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the alerts", Args: command.ExactArgs(),
		RunE: withUsage(func(ctx context.Context, u *usageReader, _ []string) error {
			return client.List(&u.Caller, o, client.Listing[*parlancev1.UsageAlert]{
				Pages: func(string) ([]*parlancev1.UsageAlert, string, error) {
					all, err := u.service.ListUsageAlerts(ctx, &parlancev1.ListUsageAlertsRequest{})
					if err != nil {
						return nil, "", u.Explain("list the alerts", err)
					}
					return all.GetAlerts(), "", nil
				},
				Columns: []term.Column{{Title: "ID"}, {Title: "METER"}, {Title: "AT", Right: true}},
				Row: func(a *parlancev1.UsageAlert) []term.Cell {
					return []term.Cell{{Text: a.GetId()}, {Text: a.GetMeter()}, {Text: alertAt(a)}}
				},
				Empty: "There are no alerts. parlance usage alerts add makes one.",
			})
		}),
	}
	o.Add(cmd.Flags())
	return cmd
}

// alertAt says what an alert waits for.
func alertAt(a *parlancev1.UsageAlert) string {
	if a.GetPercent() > 0 {
		return strconv.Itoa(int(a.GetPercent())) + " % of the quota"
	}
	return amount(a.GetMeter(), a.GetQuantity())
}

func newUsageAlertsAdd() *cobra.Command {
	var req parlancev1.CreateUsageAlertRequest
	cmd := &cobra.Command{
		Use: "add", Short: "Add an alert (needs an admin key)", Args: command.ExactArgs(),
		Example: "  parlance usage alerts add --meter tokens --quantity 1000000",
		RunE: withUsage(func(ctx context.Context, u *usageReader, _ []string) error {
			made, err := u.service.CreateUsageAlert(ctx, &req)
			if err != nil {
				return u.Explain("add the alert", err)
			}
			u.Line("%s is sent once a month when %s reaches %s.", made.GetId(), made.GetMeter(), alertAt(made))
			return nil
		}),
	}
	cmd.Flags().StringVar(&req.Meter, "meter", "", "what is watched, such as turns, tokens or kb_bytes")
	cmd.Flags().Float64Var(&req.Quantity, "quantity", 0, "at so much in a month")
	cmd.Flags().Int32Var(&req.Percent, "percent", 0, "at this part of the plan's quota")
	return cmd
}

func newUsageAlertsRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm ALERT", Aliases: []string{"remove", "delete"}, Short: "Remove an alert (needs an admin key)", Args: command.ExactArgs("ALERT"),
		RunE: withUsage(func(ctx context.Context, u *usageReader, args []string) error {
			if _, err := u.service.DeleteUsageAlert(ctx, &parlancev1.DeleteUsageAlertRequest{AlertId: args[0]}); err != nil {
				return u.Explain("remove the alert", err)
			}
			u.Line("%s is removed.", term.Clean(args[0]))
			return nil
		}),
	}
}
