package scenario

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// uploadFile sends a file and returns the source's id.
func uploadFile(t *testing.T, env *harness.Env, tenant harness.Tenant, filename string, content []byte) (id string) {
	t.Helper()
	body, contentType := form(t, part{name: "file", filename: filename, content: string(content)})
	return env.Do(t, "POST", tenant.In(uploadPath), body, harness.Key(tenant.Admin), harness.Header("Content-Type",
		contentType)).Must(t, 202).Text("id")
}

// packageOf is a zip of names and contents by turns.
func packageOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		entry, err := w.Create(files[i])
		if err == nil {
			_, err = entry.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const (
	docxTypes = `<?xml version="1.0"?><Types ` +
		`xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	docxRels = `<?xml version="1.0"?><Relationships ` +
		`xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" ` +
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`
	docxHead = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`
	docxTail = `</w:body></w:document>`
)

func docxOf(t *testing.T, document string) []byte {
	t.Helper()
	return packageOf(t, "[Content_Types].xml", docxTypes, "_rels/.rels", docxRels, "word/document.xml", document)
}

// laughs is an XML entity that stands for a billion words.
func laughs() string {
	var out strings.Builder
	out.WriteString(`<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "ha">`)
	for name := 'b'; name <= 'k'; name++ {
		fmt.Fprintf(&out, `<!ENTITY %c "%s">`, name, strings.Repeat(fmt.Sprintf("&%c;", name-1), 10))
	}
	return out.String() + "]>" + docxHead + "<w:p><w:r><w:t>&k;</w:t></w:r></w:p>" + docxTail
}

// pngHeader is a picture that says how large it is, and then nothing.
func pngHeader(width, height uint32) []byte {
	header := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	header = append(binary.BigEndian.AppendUint32(header, height), 8, 2, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(header))
}

// pagesOf is a PDF of so many pages with a line each.
func pagesOf(pages int, line string) []byte {
	f := pdfmake.New()
	for i := range pages {
		f.Page().Text(pdfmake.Regular, 12, 60, 80, fmt.Sprintf("Page %d: %s", i+1, line)).
			Text(pdfmake.Regular, 12, 60, 100, "A sentence that makes this more than the few characters of an empty page.")
	}
	return f.Bytes()
}

// TestHostileDocuments: each fails by itself with a reason for people, or comes to something; the
// worker stays small and goes on.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	good := pagesOf(3, "Open at nine.")
	var flate strings.Builder
	for range 100 {
		flate.WriteString(strings.Repeat("0 0 m 9 9 l S ", 100_000))
	}
	bomb := pdfmake.New()
	bomb.Page().Raw(flate.String()) // 140 MB of drawing in a few kilobytes
	rows := map[string]struct {
		filename string
		content  []byte
		codes    []string // "" is ready
	}{
		"zip bomb":       {"a.docx", docxOf(t, docxHead+strings.Repeat(" ", 400<<20)+docxTail), []string{"too-large", "too-complex"}},
		"billion laughs": {"a.docx", docxOf(t, laughs()), []string{"corrupt", "too-complex", "too-large"}},
		"deep DOCX":      {"a.docx", docxOf(t, docxHead+strings.Repeat("<w:p>", 200_000)+docxTail), []string{"corrupt", "too-complex"}},
		"deep HTML":      {"a.html", []byte(strings.Repeat("<div>", 500_000) + "text"), []string{"", "too-complex"}},
		"deep JSON":      {"a.json", []byte(strings.Repeat("[", 1_000_000)), []string{"corrupt", "too-complex"}},
		"many pages":     {"a.pdf", pagesOf(10_000, "x"), []string{"too-many-pages"}},
		"flate bomb":     {"a.pdf", bomb.Bytes(), []string{"", "too-complex", "timeout", "empty"}},
		"cut PDF":        {"a.pdf", good[:len(good)/2], []string{"", "corrupt", "empty"}},
		"no PDF":         {"a.pdf", []byte("%PDF-1.7\nthat was all"), []string{"corrupt"}},
		"cut DOCX":       {"a.docx", docxOf(t, docxHead+docxTail)[:100], []string{"corrupt"}},
		"cut EPUB": {"a.epub", packageOf(t, "mimetype", "application/epub+zip", "META-INF/container.xml",
			"<x/>")[:80], []string{"corrupt"}},
		"empty":           {"a.txt", nil, []string{"empty"}},
		"huge picture":    {"a.png", pngHeader(50_000, 50_000), []string{"too-large", "corrupt"}},
		"cut picture":     {"a.png", pngHeader(100, 100), []string{"corrupt"}},
		"cut JPEG":        {"a.jpg", []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01"), []string{"corrupt"}},
		"good":            {"a.pdf", good, []string{""}},
		"good after them": {"b.txt", []byte("Open at ten."), []string{""}},
	}
	ids := map[string]string{}
	for name, row := range rows {
		ids[name] = uploadFile(t, env, env.Tenant, row.filename, row.content)
	}
	worker := env.StartProcess(t, "worker")
	harness.Await(t, 4*time.Minute, "all have come to an end", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE status IN ('queued', 'processing')")[0] == 0
	})
	for name, row := range rows {
		got := env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+ids[name]), nil).Must(t, 200)
		code, message := got.Text("error", "code"), got.Text("error", "message")
		if !slices.Contains(row.codes, code) || (got.Text("status") == "ready") != (code == "") || (code == "") != (message == "") {
			t.Errorf("%s: %s, %q %q; want one of %q", name, got.Text("status"), code, message, row.codes)
		}
		t.Logf("%s: %s %s %s", name, got.Text("status"), code, message)
	}
	if worker.Ended() {
		t.Error("the worker has ended")
	}
	if peak := worker.PeakMiB(); peak > 1024 {
		t.Errorf("the worker took %d MiB", peak)
	} else {
		t.Logf("the worker took %d MiB at most", peak)
	}
}

// scanOf is a PDF whose pages are a picture of so many times a line.
func scanOf(t *testing.T, pages, times int, line string) []byte {
	t.Helper()
	text := pdfmake.New()
	page := text.Page()
	for i := range times {
		page.Text(pdfmake.Regular, 12, 60, float64(80+18*i), line)
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pdf")
	if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "pdftoppm", "-jpeg", "-gray", "-r", "100", "-singlefile", in,
		filepath.Join(dir, "page")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	picture, err := os.ReadFile(filepath.Join(dir, "page.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	scan := pdfmake.New()
	for range pages {
		scan.Page().JPEG(picture)
	}
	return scan.Bytes()
}

// TestScansOfOthers: while a tenant's long scans are read, more of them than there are workers,
// another tenant's scanned page and its text are ready soon.
func TestScansOfOthers(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	small := env.NewTenant(t, "")
	scan := scanOf(t, 150, 38, "The quick brown fox jumps over the lazy dog and runs away.")
	for i := range 10 {
		uploadFile(t, env, env.Tenant, fmt.Sprintf("scan %d.pdf", i), append(scan, fmt.Sprintf("%%%d\n", i)...))
	}
	worker := env.StartProcess(t, "worker")
	harness.Await(t, 2*time.Minute, "pages of the scans are read", func() bool {
		return harness.Rows[int](t, env, "SELECT coalesce(sum(pages_done), 0) FROM sources")[0] >= 6
	})
	pages := func() int {
		return harness.Rows[int](t, env, "SELECT coalesce(sum(pages_done), 0) FROM sources WHERE tenant_id = $1", env.Tenant.ID)[0]
	}
	begun, before := time.Now(), pages()
	uploadFile(t, env, small, "page.pdf", scanOf(t, 1, 38, "This is the page of somebody else, who does not want to wait."))
	uploadFile(t, env, small, "text.txt", []byte("Open at nine."))
	harness.Await(t, harness.Patience, "the other tenant's sources are ready", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE tenant_id = $1 AND status = 'ready'", small.ID)[0] == 2
	})
	// Pages are what is counted: how long one takes depends on what else the machine does.
	meanwhile := pages() - before
	t.Logf("ready after %s and %d pages of the scans", time.Since(begun), meanwhile)
	if meanwhile > 40 {
		t.Errorf("%d pages of the scans were read before", meanwhile)
	}
	if got := harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE tenant_id = $1 AND status = 'ready'", env.Tenant.ID)[0]; got != 0 {
		t.Errorf("%d of the scans were ready before: they are too short to show anything", got)
	}
	worker.Kill()
}

// TestKillDuringPDF: the worker dies in the middle of a PDF of 500 pages, and another has it ready
// little more than the minute later for which a silent worker's source is left alone, each passage
// once.
func TestKillDuringPDF(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	c := newCrash(t)
	first := c.StartProcess(t, "worker")
	id := uploadFile(t, c.Env, c.Tenant, "book.pdf", pagesOf(500, strings.Repeat("Words that fill the page. ", 3)))
	harness.Await(t, harness.Patience, "its passages are being embedded", func() bool { return c.embedding.Load() >= 2 })
	first.Kill()
	killed := time.Now()
	close(c.gate)
	c.StartProcess(t, "worker")
	c.awaitSources(1)
	if took := time.Since(killed); took > 150*time.Second { // for a busy machine; 61 s on one that is not
		t.Errorf("ready %s after the kill", took)
	} else {
		t.Logf("ready %s after the kill", took)
	}
	if got := c.Do(t, "GET", c.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 200); got.At("page_count") != 500.0 {
		t.Errorf("got %s", got.Body)
	}
}
