package knowledge_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/workspaces"
)

func principal(ref workspaces.Ref) workspaces.Principal {
	return workspaces.Principal{TenantID: ref.TenantID, Scope: workspaces.ScopeAdmin}
}

func TestUploadNames(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	after := func(name string) func() (knowledge.LateParams, error) {
		return func() (knowledge.LateParams, error) { return knowledge.LateParams{Name: name}, nil }
	}
	rows := []struct {
		name   string
		params knowledge.UploadParams
		want   string
		media  string
	}{
		{"the file's", knowledge.UploadParams{Filename: `C:\docs\a b.md`}, "a b.md", "text/markdown"},
		{"before", knowledge.UploadParams{Filename: "a.md", Name: "Guide"}, "Guide", "text/markdown"},
		{"after", knowledge.UploadParams{
			Filename: "a.bin", MediaType: "text/x-markdown", Name: "Guide",
			AfterFile: after("Tour"),
		}, "Tour", "text/markdown"},
		{"octets", knowledge.UploadParams{
			Filename: "a.TXT", MediaType: "application/octet-stream",
			AfterFile: after(""),
		}, "a.TXT", "text/plain"},
		{
			"Markdown declared as text",
			knowledge.UploadParams{Filename: "a.md", MediaType: "text/plain; charset=UTF-8"},
			"a.md", "text/markdown; charset=utf-8",
		},
		{"text by another name", knowledge.UploadParams{Filename: "a.html", MediaType: "text/plain"}, "a.html", "text/plain"},
		{
			"charset",
			knowledge.UploadParams{Filename: "a", MediaType: "text/plain; charset=ISO-8859-1"},
			"a",
			"text/plain; charset=iso-8859-1",
		},
		{"control characters", knowledge.UploadParams{Filename: "a\x00\nb.txt"}, "ab.txt", "text/plain"},
		{"a file's name turned around", knowledge.UploadParams{Filename: "a\u202Egpj.txt"}, "agpj.txt", "text/plain"},
		{
			"a name turned around",
			knowledge.UploadParams{Filename: "a.txt", Name: "Invoice \u202Efdp.exe\u202C"},
			"Invoice fdp.exe", "text/plain",
		},
		{
			"a name of the right to the left",
			knowledge.UploadParams{Filename: "a.txt", Name: "\u200Fמדריך 1"},
			"\u200Fמדריך 1", "text/plain",
		},
	}
	for _, row := range rows {
		got, err := f.Upload(t.Context(), f.ref, row.params, strings.NewReader(hours))
		if err != nil || got.Name != row.want || got.MediaType != row.media {
			t.Errorf("%s: got %q %q, %v; want %q %q", row.name, got.Name, got.MediaType, err, row.want, row.media)
		}
	}
}

// TestUploadOfUnknownType: whoever sends no type, or the one for unknown files, is told which file
// is refused, and what can be read.
func TestUploadOfUnknownType(t *testing.T) {
	t.Parallel()
	f := setUp(t, "tiny", nil)
	for _, declared := range []string{"", "application/octet-stream"} {
		_, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "doctors.csv", MediaType: declared}, strings.NewReader("a,b"))
		message := fault.From(err).Message
		if !strings.Contains(message, `"doctors.csv"`) || !strings.Contains(message, "text/markdown") ||
			strings.Contains(message, "octet-stream") {
			t.Errorf("declared as %q: %s", declared, message)
		}
	}
}

func TestUploadRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t, "tiny", nil)
	broken := errors.New("the wire broke")
	untouched := iotest.ErrReader(errors.New("the body was read"))
	rows := []struct {
		name   string
		params knowledge.UploadParams
		body   io.Reader
		reason fault.Reason
	}{
		{"unknown type", knowledge.UploadParams{Filename: "a.exe"}, untouched, fault.KBUnsupportedMediaType},
		{
			"a name of another type",
			knowledge.UploadParams{Filename: "a.pdf", MediaType: "text/plain"},
			untouched,
			fault.KBUnsupportedMediaType,
		},
		{"a name of a picture", knowledge.UploadParams{Filename: "a.PNG", MediaType: "text/html"}, untouched, fault.KBUnsupportedMediaType},
		{"declared type", knowledge.UploadParams{Filename: "a.md", MediaType: "video/mp4"}, untouched, fault.KBUnsupportedMediaType},
		{"known type without a parser", knowledge.UploadParams{Filename: "a.pdf"}, untouched, fault.KBUnsupportedMediaType},
		{
			"content",
			knowledge.UploadParams{Filename: "a.md"},
			strings.NewReader("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"),
			fault.KBUnsupportedMediaType,
		},
		{"too large, known before", knowledge.UploadParams{Filename: "a.md", AtLeastBytes: 601}, untouched, fault.QuotaKBUploadSize},
		{"too large", knowledge.UploadParams{Filename: "a.md"}, strings.NewReader(strings.Repeat("a", 601)), fault.QuotaKBUploadSize},
		{"cut off at once", knowledge.UploadParams{Filename: "a.md"}, io.MultiReader(strings.NewReader("abc"),
			iotest.ErrReader(io.ErrUnexpectedEOF)), fault.InternalError},
		{"broken later", knowledge.UploadParams{Filename: "a.md"}, io.MultiReader(strings.NewReader(strings.Repeat("a",
			500)), iotest.ErrReader(broken)), fault.InternalError},
		{
			"name too long",
			knowledge.UploadParams{Filename: "a.md", Name: strings.Repeat("ä", 201)},
			strings.NewReader("a"), fault.InvalidRequest,
		},
		{"OCR of text", knowledge.UploadParams{Filename: "a.md", ForceOCR: true}, untouched, fault.InvalidRequest},
		{"OCR of text, said late", knowledge.UploadParams{Filename: "a.md", AfterFile: func() (knowledge.LateParams,
			error,
		) {
			return knowledge.LateParams{ForceOCR: true}, nil
		}}, strings.NewReader("a"), fault.InvalidRequest},
		{"name after the file", knowledge.UploadParams{Filename: "a.md", AfterFile: func() (knowledge.LateParams, error) {
			return knowledge.LateParams{}, fault.InvalidField("x", "unknown", "No.")
		}}, strings.NewReader("a"), fault.InvalidRequest},
	}
	for _, row := range rows {
		_, err := f.Upload(t.Context(), f.ref, row.params, row.body)
		if got := fault.ReasonOf(err); got != row.reason {
			t.Errorf("%s: got %q (%v), want %q", row.name, got, err, row.reason)
		}
	}
	f.nothingStored()
}

// TestQuotaIsExact sends fifty uploads of 100 bytes at once to a workspace of 1,000.
func TestQuotaIsExact(t *testing.T) {
	t.Parallel()
	f := setUp(t, "tiny", nil)
	var stored atomic.Int64
	var uploads sync.WaitGroup
	for i := range 50 {
		uploads.Go(func() {
			body := strings.Repeat(string(rune('a'+i%26)), 99) + string(rune('A'+i/26))
			_, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: "a.txt"}, strings.NewReader(body))
			if err == nil {
				stored.Add(1)
			} else if !fault.IsReason(err, fault.QuotaKBStorage) {
				t.Errorf("got %v, want quota-exceeded-kb-storage", err)
			}
		})
	}
	uploads.Wait()
	if stored.Load() != 10 || f.used() != 1000 || f.files() != 10 {
		t.Errorf("stored %d, used %d, files %d; want 10, 1000, 10", stored.Load(), f.used(), f.files())
	}
	if n := f.count("SELECT count(*) FROM stray_blobs"); n != 0 {
		t.Errorf("stray blobs: got %d, want 0", n)
	}
}

func TestSameBytes(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	one := f.get(f.ref, f.inline(f.ref, "one", hours))
	two := f.get(f.ref, f.inline(f.ref, "two", hours))
	if one.SHA256 != two.SHA256 || f.files() != 1 || f.used() != 2*int64(len(hours)) {
		t.Fatalf("files %d, used %d; want 1 file counted twice", f.files(), f.used())
	}
	for _, source := range []knowledge.Source{one, two} {
		if err := f.Delete(t.Context(), f.ref, source.ID); err != nil {
			t.Fatal(err)
		}
		if err := f.SweepBlob(t.Context(), source.BlobKey); err != nil {
			t.Fatal(err)
		}
		if source.ID == one.ID && f.get(f.ref, two.ID).Content != hours {
			t.Fatal("the blob went with its first source")
		}
	}
	f.nothingStored()
}

func TestInlineRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t, "tiny", nil)
	rows := []struct {
		name, title, content string
		reason               fault.Reason
	}{
		{"over 1 MiB", "a", strings.Repeat("a", 1<<20+1), fault.BodyTooLarge},
		{"over the storage", "a", strings.Repeat("a", 1001), fault.QuotaKBStorage},
		{"no text", "a", " \n", fault.InvalidRequest},
		{"no name", "  ", "text", fault.InvalidRequest},
		{"control characters", "a\x00b", "text", fault.InvalidRequest},
	}
	for _, row := range rows {
		_, err := f.CreateInline(t.Context(), f.ref, row.title, row.content)
		if got := fault.ReasonOf(err); got != row.reason {
			t.Errorf("%s: got %q (%v), want %q", row.name, got, err, row.reason)
		}
	}
	f.nothingStored()
	f.inline(f.ref, "over the upload size, which is for files", strings.Repeat("a", 601))
}

// TestSweepUnfinished leaves what uploads leave whose process is killed halfway, and one that goes
// on, whose process has its lock.
func TestSweepUnfinished(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	for name, age := range map[string]time.Duration{"old": 25 * time.Hour, "abandoned": time.Hour, "young": time.Hour} {
		path := filepath.Join(f.blobs, ".parts", name)
		at := f.clock.now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	writing, err := os.Open(filepath.Join(f.blobs, ".parts", "young"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writing.Close() }() // with its lock
	if err := syscall.Flock(int(writing.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(f.blobs, ".parts"))
	if err != nil || len(left) != 1 || left[0].Name() != "young" {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestUploadedTypes takes a file of each type from the upload to its end.
func TestUploadedTypes(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	ole := "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 4096) +
		"E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"
	rows := []struct {
		filename, content string
		status            knowledge.Status
		code              string
	}{
		{"page.html", "<nav>Home</nav><h1>Hours</h1><p>Open at nine.", knowledge.StatusReady, ""},
		{"data.json", `{"hours": {"monday": "9-12"}}`, knowledge.StatusReady, ""},
		{"cyrillic.txt", "\xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xe4\xe5\xeb\xe0?", knowledge.StatusReady, ""},
		{"cut.json", `{"hours": `, knowledge.StatusFailed, "corrupt"},
		{"secret.docx", ole, knowledge.StatusFailed, "encrypted"},
		{"broken.docx", "PK\x03\x04\x14\x00\x00\x00\x08\x00" + strings.Repeat("\x00", 16) +
			"\x13\x00\x00\x00[Content_Types].xml", knowledge.StatusFailed, "corrupt"},
		{
			"broken.epub", "PK\x03\x04\x14\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 16) + "\x08\x00\x00\x00mimetype",
			knowledge.StatusFailed, "corrupt",
		},
	}
	for _, row := range rows {
		source, err := f.Upload(t.Context(), f.ref, knowledge.UploadParams{Filename: row.filename}, strings.NewReader(row.content))
		if err != nil {
			t.Errorf("%s: %v", row.filename, err)
			continue
		}
		if err := f.Ingest(t.Context(), source.ID); err != nil {
			t.Errorf("%s: %v", row.filename, err)
		}
		got := f.get(f.ref, source.ID)
		if got.Status != row.status || got.ErrorCode != row.code || (got.ErrorMessage == "") != (row.code == "") {
			t.Errorf("%s: got %s, %q %q; want %s, %q", row.filename, got.Status, got.ErrorCode, got.ErrorMessage, row.status, row.code)
		}
	}
}
