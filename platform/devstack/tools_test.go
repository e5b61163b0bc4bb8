package devstack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlanTools(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		manager string
		tools   []Tool
		found   []string
		want    string
	}{
		"Debian, nothing there": {manager: "apt", tools: DocumentTools(), want: "sudo apt-get install -y --no-install-recommends bubblewrap " +
			"poppler-utils tesseract-ocr"},
		"Debian, poppler there": {
			manager: "apt", tools: DocumentTools(), found: []string{"pdfinfo", "pdftohtml", "pdftoppm"},
			want: "sudo apt-get install -y --no-install-recommends bubblewrap tesseract-ocr",
		},
		"macOS":            {manager: "brew", tools: DocumentTools(), found: []string{"bwrap"}, want: "brew install poppler tesseract"},
		"neither of them":  {tools: DocumentTools()},
		"everything there": {manager: "apt", tools: DocumentTools(), found: []string{"pdfinfo", "pdftohtml", "pdftoppm", "tesseract", "bwrap"}},
		"what speaks": {
			manager: "apt", tools: SpeechTools(), want: "sudo apt-get install -y --no-install-recommends bubblewrap espeak-ng",
		},
		"half of a package lost": {
			manager: "apt", tools: DocumentTools(), found: []string{"pdfinfo", "tesseract", "bwrap"},
			want: "sudo apt-get install -y --no-install-recommends poppler-utils",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := map[string]string{}
			for _, command := range row.found {
				found[command] = "/usr/bin/" + command
			}
			plan := planTools(row.manager, found, row.tools)
			if plan.Command != row.want || plan.Automatic != (row.manager == "apt" && plan.Command != "" && os.Geteuid() == 0) {
				t.Errorf("got %q (automatic %v), want %q", plan.Command, plan.Automatic, row.want)
			}
			if empty := len(row.found) == 5; plan.Empty() != empty {
				t.Errorf("missing: %v", plan.Missing)
			}
		})
	}
}

// TestToolsRefused: the message is about the tools, not about databases.
func TestToolsRefused(t *testing.T) {
	t.Parallel()
	asked := false
	err := InstallTools(t.Context(), Options{
		CacheDir: t.TempDir(),
		Tools:    []Tool{{Command: "no-such-program", Apt: "no-such-package", Brew: "no-such-formula"}},
		Confirm:  func(InstallPlan) (bool, error) { asked = true; return false, nil },
	})
	missing, ok := errors.AsType[*MissingError](err)
	if !ok {
		t.Fatalf("got %v, want a MissingError", err)
	}
	if !strings.Contains(err.Error(), "no-such-program") || !strings.Contains(err.Error(), missing.Plan.Command) ||
		strings.Contains(err.Error(), "docker") {
		t.Errorf("got %q", err)
	}
	if asked != missing.Plan.Automatic {
		t.Errorf("asked: %t", asked)
	}
}

// TestFiles: an absolute path names a file, which need not be a program.
func TestFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "model")
	tools := []Tool{{Command: file, Apt: "model", Brew: "model"}}
	if plan := MissingTools(Options{Tools: tools}); len(plan.Missing) != 1 {
		t.Errorf("missing: %v", plan.Missing)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if plan := MissingTools(Options{Tools: tools}); !plan.Empty() {
		t.Errorf("missing: %v", plan.Missing)
	}
}

// TestInstallTools: on a machine without them this installs; afterwards nothing is missing.
func TestInstallTools(t *testing.T) {
	t.Parallel()
	o := Options{Tools: append(DocumentTools(), SpeechTools()...), Log: t.Logf}
	if err := InstallTools(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if plan := MissingTools(o); !plan.Empty() {
		t.Errorf("missing: %v", plan.Missing)
	}
}
