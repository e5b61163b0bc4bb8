package app

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/pdf/poppler"
)

// componentServer answers requests only; it needs no programs of its own.
const componentServer = "server"

// openReaders prepares what reads PDF files and pictures. A server takes them in whether or not it
// could read them itself, because a worker will; where both are one process, what cannot be read is
// refused at the upload.
func (a *App) openReaders(ctx context.Context, component string) (err error) {
	if component == componentServer {
		a.readers = document.Readers{PDF: poppler.New(poppler.Deps{})}
		return nil
	}
	if a.sandbox, err = sandbox.New(ctx, sandbox.Options{}); err != nil {
		return fmt.Errorf("open the sandbox: %w", err)
	}
	if missing := missingPrograms(poppler.Programs()); len(missing) == 0 {
		a.readers.PDF = poppler.New(poppler.Deps{Sandbox: a.sandbox, Log: a.log})
	} else {
		a.log.WarnContext(ctx, "PDF files cannot be read here: install poppler (Debian: poppler-utils)", telemetry.KeyReason, "missing: "+strings.Join(missing, ", "))
	}
	return nil
}

// missingPrograms are those that are not on the path.
func missingPrograms(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
}
