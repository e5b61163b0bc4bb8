package cli

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/redis"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	var only, skip []string
	var processes int
	var caFile string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check everything a deployment needs, and say what to do", GroupID: "admin", Args: command.ExactArgs(),
		Long: doctorHelp(),
		Example: `  parlance doctor                            with the environment of the server
  parlance doctor --skip public-url,work     before a server or worker runs
  parlance doctor --only postgres,redis
  parlance doctor --json | jq '.findings[] | select(.status == "failed")'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			areas, err := chooseAreas(only, skip)
			if err != nil {
				return command.Usage(err)
			}
			if processes < 1 {
				return command.Usagef("--processes must be at least 1")
			}
			config, problems := loadForDoctor(cmd)
			deps := doctor.Deps{
				Config: config, Problems: problems, Environ: os.Environ(), CAFile: caFile, Processes: processes,
				Now: time.Now, Nonce: rand.Text,
			}
			redis.LogTo(slog.New(slog.DiscardHandler), "") // its pool would write between the findings what they say better
			return examine(cmd, deps, areas, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringSliceVar(&only, "only", nil, "look at these areas only, separated by commas")
	cmd.Flags().StringSliceVar(&skip, "skip", nil, "leave these areas out")
	cmd.Flags().IntVar(&processes, "processes", 2, "servers and workers that share the database, for its connections")
	cmd.Flags().StringVar(&caFile, "ca-file", "", "certificate authorities (PEM) to trust beside the system's when PUBLIC_URL is called")
	command.AddSettings(cmd)
	return cmd
}

func doctorHelp() string {
	var b strings.Builder
	b.WriteString(`Looks at everything a deployment needs and says of each thing whether it is as it should be, and if
not, what to do. Run it with the same settings, on the same machine and as the same user as the
server or worker: it sees what they would see. It changes nothing that lasts, and prints no secrets.

  ✓ as it should be     ! works, and will hurt one day     ✗ does not work     – not looked at

Exit code 0 when nothing failed, 1 when something did; warnings do not count.

Areas, for --only and --skip:
`)
	for _, area := range doctor.Areas() {
		fmt.Fprintf(&b, "  %-12s %s\n", area.Name, area.Help)
	}
	b.WriteString(`
public-url calls the running server through everything that lies before it. The model and the
embedder are called for real, which may cost a fraction of a cent.`)
	return b.String()
}

// chooseAreas returns the areas of --only without those of --skip.
func chooseAreas(only, skip []string) ([]doctor.Area, error) {
	areas := doctor.Areas()
	for _, name := range slices.Concat(only, skip) {
		if !slices.ContainsFunc(areas, func(a doctor.Area) bool { return a.Name == name }) {
			return nil, fmt.Errorf("there is no area %q; --help lists them", name)
		}
	}
	return slices.DeleteFunc(areas, func(a doctor.Area) bool {
		return len(only) > 0 && !slices.Contains(only, a.Name) || slices.Contains(skip, a.Name)
	}), nil
}

// loadForDoctor returns the settings that can be read, and each problem of the others.
func loadForDoctor(cmd *cobra.Command) (app.Config, []error) {
	config, err := app.Load(app.OSSource(command.SettingFlags(cmd)))
	return config, append(oneByOne(err), oneByOne(config.Require(production...))...)
}

func oneByOne(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// examine prints each area when it is done. It returns an error when a check failed.
func examine(cmd *cobra.Command, deps doctor.Deps, areas []doctor.Area, asJSON bool) error {
	out := cmd.OutOrStdout()
	all := []doctor.Finding{}
	doctor.Run(cmd.Context(), deps, areas, func(area doctor.Area, findings []doctor.Finding) {
		all = append(all, findings...)
		if !asJSON {
			printFindings(out, area, findings, term.IsTerminal(out))
		}
	})
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	failed := doctor.Count(all, doctor.Failed)
	if asJSON {
		report := struct {
			Status   doctor.Status    `json:"status"`
			Version  string           `json:"version"`
			Findings []doctor.Finding `json:"findings"`
		}{doctor.Worst(all), version, all}
		if err := command.PrintJSON(cmd, report); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(out, "\n%d as they should be, %d to look at, %d failed, %d not looked at.\n",
			doctor.Count(all, doctor.OK), doctor.Count(all, doctor.Warning), failed, doctor.Count(all, doctor.Skipped))
	}
	if failed > 0 {
		return fmt.Errorf("not everything is as it must be (%d failed); each ✗ says what to do", failed)
	}
	return nil
}

// marks are the sign and the colour of each status.
var marks = map[doctor.Status][2]string{
	doctor.OK: {"✓", "32"}, doctor.Warning: {"!", "33"}, doctor.Failed: {"✗", "31"}, doctor.Skipped: {"–", "90"},
}

func printFindings(out io.Writer, area doctor.Area, findings []doctor.Finding, colour bool) {
	fmt.Fprintf(out, "%s\n", area.Name)
	for _, finding := range findings {
		mark := marks[finding.Status][0]
		if colour {
			mark = "\033[" + marks[finding.Status][1] + "m" + mark + "\033[0m"
		}
		fmt.Fprintf(out, "  %s %s: %s\n", mark, finding.Check, oneLine(finding.Detail))
		if finding.Advice != "" {
			fmt.Fprintf(out, "      → %s\n", oneLine(finding.Advice))
		}
	}
}

// oneLine removes line breaks from messages of other programs.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
