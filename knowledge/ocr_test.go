package knowledge_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
)

const scanned = "%PDF-1.7\nscan"

// languagesOf are what a source is read in, and what its content before was.
func languagesOf(source knowledge.Source) string {
	return strings.Join(source.OCRLanguages, "+") + " after " + strings.Join(source.Previous.OCRLanguages, "+")
}

// TestOCRLanguages: what is asked for at the upload is passed on and stays until other languages
// are asked for, at a reprocessing or with other content.
func TestOCRLanguages(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	s := &scans{pages: 3, languages: "eng", confidence: 90}
	library := f.reading(s)
	upload := func(replaces knowledge.SourceID, content string, languages ...string) knowledge.Source {
		t.Helper()
		source, err := library.Upload(t.Context(), f.ref, knowledge.UploadParams{
			Filename: "scan.pdf", OCRLanguages: languages, Replaces: replaces,
		}, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return source
	}
	id := upload("", scanned, "deu", "eng", "deu").ID
	// ingested fails unless the source is ready in these languages, and was read in those asked for.
	ingested := func(when, want string, asked ...string) {
		t.Helper()
		s.asked = nil
		if err := library.Ingest(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		got := f.get(f.ref, id)
		if got.Status != knowledge.StatusReady || languagesOf(got) != want || !slices.Equal(s.asked, asked) {
			t.Fatalf("%s: %s in %q, want %q; read in %q: %s", when, got.Status, languagesOf(got), want, s.asked, got.ErrorMessage)
		}
	}
	again := func(languages ...string) knowledge.Source {
		t.Helper()
		source, err := library.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{OCRLanguages: languages})
		if err != nil {
			t.Fatal(err)
		}
		return source
	}
	ingested("upload", "deu+eng after ", "deu", "eng")
	again()
	ingested("again", "deu+eng after ", "deu", "eng")
	again("eng")
	if waiting := again("deu"); languagesOf(waiting) != "deu after " {
		t.Errorf("while it waits: %s", languagesOf(waiting))
	}
	ingested("again in German", "deu after ", "deu")

	if same := upload(id, scanned, "deu"); same.Status != knowledge.StatusReady {
		t.Errorf("equal content and languages: %s", same.Status)
	}
	upload(id, scanned)
	ingested("the same file in the installation's languages", " after deu")
	if _, err := library.Restore(t.Context(), f.ref, id); err != nil {
		t.Fatal(err)
	}
	ingested("restored", "deu after ", "deu")
	if _, err := library.Restore(t.Context(), f.ref, id); err != nil {
		t.Fatal(err)
	}
	ingested("restored again", " after deu")

	s.before = func(page int) error {
		if page == 2 {
			again("deu", "eng")
		}
		return nil
	}
	again("eng")
	if err := library.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := f.get(f.ref, id); got.Status != knowledge.StatusQueued || !slices.Equal(s.asked, []string{"eng"}) {
		t.Errorf("asked for while it was read: %s, read in %q", got.Status, s.asked)
	}
	s.before = nil
	ingested("after that run", "deu+eng after deu", "deu", "eng")
}

// TestOCRLanguagesAnew breaks a run off and asks for another language: no page of the first is
// taken, and the warning tells of the pages.
func TestOCRLanguagesAnew(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	s := &scans{pages: 6, languages: "eng", confidence: 30}
	library := f.reading(s)
	source, err := library.Upload(t.Context(), f.ref, knowledge.UploadParams{
		Filename: "scan.pdf",
		AfterFile: func() (knowledge.LateParams, error) {
			return knowledge.LateParams{OCRLanguages: []string{"eng"}}, nil
		},
	}, strings.NewReader(scanned))
	if err != nil {
		t.Fatal(err)
	}
	s.before = func(page int) error {
		if page == 5 {
			return errors.New("the program was killed")
		}
		return nil
	}
	if err := library.Ingest(t.Context(), source.ID); err != nil {
		t.Fatal(err)
	}
	if n := f.count("SELECT count(*) FROM source_pages"); n != 3 {
		t.Fatalf("%d pages are kept, want 3", n)
	}
	s.before = nil
	s.paid.Store(0)
	if _, err := library.Reprocess(t.Context(), f.ref, source.ID, knowledge.ReprocessParams{OCRLanguages: []string{"deu"}}); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(time.Minute)
	if err := library.Ingest(t.Context(), source.ID); err != nil {
		t.Fatal(err)
	}
	got := f.get(f.ref, source.ID)
	var text strings.Builder
	for _, chunk := range f.chunksInOrder(source.ID) {
		text.WriteString(chunk.Content)
	}
	if got.Status != knowledge.StatusReady || s.paid.Load() != 6 || strings.Contains(text.String(), "in eng") {
		t.Errorf("%s, %d pages were read, text %s", got.Status, s.paid.Load(), text.String())
	}
	if len(got.Warnings) != 2 || !strings.HasPrefix(got.Warnings[1],
		"Pages 1 and 3 to 6 were read by OCR with low confidence (30 of 100): the text may be wrong.") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// TestMissingOCRLanguage fails the source with what to install; a replacement goes back.
func TestMissingOCRLanguage(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	library := f.reading(&scans{pages: 3, languages: "eng", confidence: 90})
	var id knowledge.SourceID
	put := func(content string, languages ...string) knowledge.Source {
		t.Helper()
		source, err := library.Upload(t.Context(), f.ref, knowledge.UploadParams{
			Filename: "scan.pdf", OCRLanguages: languages, Replaces: id,
		}, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if err := library.Ingest(t.Context(), source.ID); err != nil {
			t.Fatal(err)
		}
		return f.get(f.ref, source.ID)
	}
	const install = "no OCR data for chi_sim (it has deu, eng): install tesseract-ocr-chi-sim there"
	failed := put(scanned, "eng", "chi_sim")
	if failed.Status != knowledge.StatusFailed || failed.ErrorCode != "unsupported" || failed.Attempt != 1 ||
		!strings.Contains(failed.ErrorMessage, install) {
		t.Errorf("got %s %s: %s", failed.Status, failed.ErrorCode, failed.ErrorMessage)
	}
	id = failed.ID
	if got := put(scanned, "deu"); got.Status != knowledge.StatusReady {
		t.Fatalf("in German: %s: %s", got.Status, got.ErrorMessage)
	}
	got := put(scanned+" 2", "chi_sim")
	if got.Status != knowledge.StatusFailed || languagesOf(got) != "deu after " || got.Replacing ||
		!strings.HasPrefix(got.ErrorMessage, "The new content could not be used") || !strings.Contains(got.ErrorMessage, install) {
		t.Errorf("replaced: %s in %s, replacing %t: %s", got.Status, languagesOf(got), got.Replacing, got.ErrorMessage)
	}
}

// TestOCRLanguagesRefused stores nothing for names that are none, too many of them, or a file
// without pictures.
func TestOCRLanguagesRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	library := f.reading(&scans{pages: 3, languages: "eng"})
	for name, row := range map[string]struct {
		filename, content string
		languages         []string
	}{
		"name":    {"a.pdf", scanned, []string{"eng", "../deu"}},
		"empty":   {"a.pdf", scanned, []string{""}},
		"several": {"a.pdf", scanned, []string{"eng,deu"}},
		"many":    {"a.pdf", scanned, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}},
		"text":    {"a.md", "# Text", []string{"eng"}},
	} {
		for _, late := range []bool{false, true} {
			p := knowledge.UploadParams{Filename: row.filename, OCRLanguages: row.languages}
			if late {
				p.OCRLanguages = nil
				p.AfterFile = func() (knowledge.LateParams, error) { return knowledge.LateParams{OCRLanguages: row.languages}, nil }
			}
			_, err := library.Upload(t.Context(), f.ref, p, strings.NewReader(row.content))
			if got := fault.From(err); got.Reason != fault.InvalidRequest || len(got.Fields) != 1 || got.Fields[0].Field != "ocr_languages" {
				t.Errorf("%s, late %t: %v", name, late, err)
			}
		}
	}
	f.nothingStored()
	id := f.ready(f.ref, "text", hours)
	_, err := library.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{OCRLanguages: []string{"eng"}})
	if got := fault.From(err); len(got.Fields) != 1 || got.Fields[0].Field != "ocr_languages" {
		t.Errorf("reprocess: %v", err)
	}
}
