package poppler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/pdf"
)

var (
	pagesLine = regexp.MustCompile(`(?m)^Pages:\s+(\d+)\s*$`)
	// noPages is how the programs put it.
	noPages = regexp.MustCompile(`the first page \(1\) can not be after the last page \(0\)`)
	// wrongCount is said of a number of pages that is negative, or more than the file holds things.
	wrongCount    = regexp.MustCompile(`Invalid page count (-?[1-9]\d*)|Page count \((\d+)\) larger than`)
	wrongPassword = regexp.MustCompile(`(?i)incorrect password|unsupported .*security handler|couldn't find .*security handler`)
)

// countPages asks pdfinfo. Errors: *pdf.Fault, ours.
func countPages(ctx context.Context, box *sandbox.Box) (int, error) {
	var out bytes.Buffer
	err := box.Run(ctx, sandbox.Command{
		Program: "pdfinfo", Args: []string{file}, Stdout: &out, OutputBytes: 1 << 20, CPUSeconds: 15,
	})
	if err != nil {
		fault := faultOf(err)
		if end, ok := errors.AsType[*sandbox.Error](err); ok && noPages.MatchString(end.Stderr) {
			fault = errNoPages()
			if said := wrongCount.FindStringSubmatch(end.Stderr); said != nil {
				fault = &pdf.Fault{
					Kind: pdf.Corrupt,
					Message: "The PDF is damaged: it says that it has " + said[1] + said[2] + " pages, which cannot be. Save it again with another " +
						"program.",
					Cause: err,
				}
			}
		}
		return 0, fault
	}
	found := pagesLine.FindSubmatch(out.Bytes())
	if found == nil {
		return 0, &pdf.Fault{Kind: pdf.Corrupt, Message: "The PDF is damaged: its pages cannot be found."}
	}
	pages, err := strconv.Atoi(string(found[1]))
	if err != nil {
		return 0, &pdf.Fault{Kind: pdf.Corrupt, Message: "The PDF is damaged: its pages cannot be found.", Cause: err}
	}
	if pages == 0 {
		return 0, errNoPages()
	}
	return pages, nil
}

func errNoPages() error { return &pdf.Fault{Kind: pdf.Empty, Message: "The PDF has no pages."} }

// faultOf tells a fault of the document from ours.
func faultOf(err error) error {
	end, ok := errors.AsType[*sandbox.Error](err)
	if !ok || end.Kind.Ours() {
		return fmt.Errorf("read a PDF: %w", err)
	}
	fault := &pdf.Fault{Cause: err}
	switch end.Kind {
	case sandbox.CPULimit, sandbox.MemoryLimit, sandbox.OutputLimit:
		fault.Kind, fault.Message = pdf.TooComplex, "The PDF needs more memory or computing to be read than any document for people does."
	case sandbox.TimeLimit:
		fault.Kind, fault.Message = pdf.Timeout, "Reading the PDF took too long."
	default:
		fault.Kind, fault.Message = pdf.Corrupt, "The PDF is damaged and cannot be opened."
		if wrongPassword.MatchString(end.Stderr) {
			fault.Kind, fault.Message = pdf.Encrypted, "The PDF is protected with a password. Remove the password and upload it again."
		}
	}
	return fault
}
