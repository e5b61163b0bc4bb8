package devstack

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Tool is a program or a file beyond the databases that a caller wants present, such as pdftotext.
type Tool struct {
	Command string // looked up on PATH; an absolute path is that of a file, which need not be a program
	Apt     string // Debian package that has it
	Brew    string // Homebrew's formula; empty where macOS cannot have it
}

// DocumentTools are what PDF files and pictures are read with: poppler, tesseract with English,
// and bubblewrap to keep them in their place, which Linux alone has.
func DocumentTools() []Tool {
	tools := []Tool{
		{Command: "pdfinfo", Apt: "poppler-utils", Brew: "poppler"},
		{Command: "pdftohtml", Apt: "poppler-utils", Brew: "poppler"},
		{Command: "pdftoppm", Apt: "poppler-utils", Brew: "poppler"},
		{Command: "tesseract", Apt: "tesseract-ocr", Brew: "tesseract"},
		{Command: "bwrap", Apt: "bubblewrap"},
	}
	return slices.DeleteFunc(tools, func(tool Tool) bool { return tool.Brew == "" && runtime.GOOS == "darwin" })
}

// SpeechTools are what speaks without a server, in the same place.
func SpeechTools() []Tool {
	tools := []Tool{
		{Command: "espeak-ng", Apt: "espeak-ng", Brew: "espeak-ng"},
		{Command: "bwrap", Apt: "bubblewrap"},
	}
	return slices.DeleteFunc(tools, func(tool Tool) bool { return tool.Brew == "" && runtime.GOOS == "darwin" })
}

// MissingTools says what of o.Tools is missing and how it is installed. It changes nothing.
func MissingTools(o Options) InstallPlan {
	return planTools(packageManager(), findTools(o.Tools), o.Tools)
}

// InstallTools installs what of o.Tools is missing, on apt systems as root, after o.Confirm. It
// may be called by several processes at once. DataDir is not used.
//
// Errors: *MissingError when something is missing that cannot be installed here or was refused.
func InstallTools(ctx context.Context, o Options) error {
	o.DataDir = ""
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	_, err = ensure(ctx, o, &progress{log: o.Log}, func(_ context.Context, o Options) (Found, error) {
		return Found{Plan: MissingTools(o)}, nil
	})
	return err
}

// planTools says how one package manager gets what was not found.
func planTools(manager string, found map[string]string, tools []Tool) InstallPlan {
	plan := InstallPlan{toolsOnly: true}
	plan.addTools(manager, found, tools)
	plan.finish(manager)
	return plan
}

// addTools adds the tools that were not found.
func (p *InstallPlan) addTools(manager string, found map[string]string, tools []Tool) {
	for _, tool := range tools {
		if found[tool.Command] != "" {
			continue
		}
		p.Missing = append(p.Missing, tool.Command)
		switch manager {
		case apt:
			p.Packages = append(p.Packages, tool.Apt)
		case brew:
			p.Packages = append(p.Packages, tool.Brew)
		}
	}
}

// finish sets the line that installs the packages.
func (p *InstallPlan) finish(manager string) {
	slices.Sort(p.Packages)
	p.Packages = slices.Compact(p.Packages)
	install := map[string]string{apt: "sudo apt-get install -y --no-install-recommends ", brew: "brew install "}[manager]
	if len(p.Packages) > 0 && install != "" {
		p.Command = install + strings.Join(p.Packages, " ")
		root := os.Geteuid() == 0
		p.Automatic, p.NeedsRoot = manager == apt && root, manager == apt && !root
	}
}
