package scenario

import (
	"strings"
	"testing"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// putFile uploads a form, or replaces the content of a source, and waits until it has been read.
func putFile(t *testing.T, env *harness.Env, source string, parts ...part) harness.Response {
	t.Helper()
	body, contentType := form(t, parts...)
	method, path := "POST", uploadPath
	if source != "" {
		method, path = "PUT", "/knowledge-base/sources/"+source+"/content"
	}
	sent := env.Do(t, method, env.Tenant.In(path), body, harness.Header("Content-Type", contentType)).Must(t, 202)
	return await(t, env, sent.Text("id"))
}

// await waits until a source is ready or failed.
func await(t *testing.T, env *harness.Env, id string) (source harness.Response) {
	t.Helper()
	harness.Await(t, 2*harness.Patience, "the source is ready or failed", func() bool {
		source = env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 200)
		return source.Text("status") == "ready" || source.Text("status") == "failed"
	})
	return source
}

// languages are those that a source says it is read in.
func languages(source harness.Response) string {
	var all []string
	for i := range source.List("ocr_languages") {
		all = append(all, source.Text("ocr_languages", i))
	}
	return strings.Join(all, "+")
}

// firstChunk is the first passage of a source.
func firstChunk(t *testing.T, env *harness.Env, id string) string {
	t.Helper()
	return env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+id+"/chunks"), nil).Must(t, 200).Text("chunks", 0, "content")
}

// TestOCRLanguages: languages are asked for with an upload, a replacement and a reprocessing, over
// REST and as a stream of messages. osd is the one besides English that comes with tesseract.
func TestOCRLanguages(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	env := harness.Start(t, harness.Options{})
	picture := doctools.Render(t, sheet("Lantern", "The lantern is lit at dusk, and put out when the sun has risen.").Bytes(), doctools.PNG)
	file := part{name: "file", filename: "a.png", mediaType: "image/png", content: string(picture)}
	in := func(list string) part { return part{name: "ocr_languages", content: list} }

	plain := putFile(t, env, "", file)
	id := plain.Text("id")
	english := firstChunk(t, env, id)
	if languages(plain) != "" || !strings.Contains(english, "is lit at dusk") {
		t.Errorf("in the installation's: %s, %q", plain.Body, english)
	}
	for name, parts := range map[string][]part{"before": {in("osd"), file}, "after": {file, in(" osd, ")}} {
		if got := putFile(t, env, "", parts...); languages(got) != "osd" || firstChunk(t, env, got.Text("id")) == english {
			t.Errorf("another language, said %s the file, gives the same text: %s", name, got.Body)
		}
	}
	if got := putFile(t, env, id, file, in("osd,eng")); languages(got) != "osd+eng" {
		t.Errorf("replaced: %s", got.Body)
	}
	if got := putFile(t, env, id, in("eng"), file, in("osd")); languages(got) != "eng+osd" {
		t.Errorf("a part for each language: %s", got.Body)
	}
	again := env.Tenant.In("/knowledge-base/sources/" + id + "/reprocess")
	env.Do(t, "POST", again, map[string]any{"ocr_languages": []string{"eng"}}).Must(t, 202)
	if got := await(t, env, id); languages(got) != "eng" || firstChunk(t, env, id) != english {
		t.Errorf("reprocessed: %s", got.Body)
	}

	body, contentType := form(t, file, in("eng,../deu"))
	refused := env.Do(t, "POST", env.Tenant.In(uploadPath), body, harness.Header("Content-Type", contentType)).Must(t, 400)
	if refused.Code() != "invalid-request" || !strings.Contains(string(refused.Body), `"ocr_languages"`) {
		t.Errorf("a name that is none: %s", refused.Body)
	}
	failed := putFile(t, env, "", file, in("tlh"))
	if failed.Text("status") != "failed" || failed.Text("error", "code") != "unsupported" ||
		!strings.Contains(failed.Text("error", "message"), "install tesseract-ocr-tlh") {
		t.Errorf("a language that is missing: %s", failed.Body)
	}

	stream, err := env.Clients(t, harness.Protocols()[3], env.Tenant.Operator).Knowledge.UploadSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []*parlancev1.UploadSourceRequest{
		{Part: &parlancev1.UploadSourceRequest_Metadata{Metadata: &parlancev1.UploadSourceMetadata{
			WorkspaceId: env.Tenant.WorkspaceID, Filename: "a.png", OcrLanguages: []string{"osd"},
		}}},
		{Part: &parlancev1.UploadSourceRequest_Data{Data: picture}},
	} {
		if err := stream.Send(message); err != nil {
			t.Fatal(err)
		}
	}
	if sent, err := stream.CloseAndReceive(); err != nil || strings.Join(sent.GetOcrLanguages(), "+") != "osd" {
		t.Errorf("a stream: %v, %v", sent, err)
	}
}

// TestLowConfidence warns of a scan whose letters cannot be read: they are mirrored.
func TestLowConfidence(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	file := pdfmake.New()
	page := file.Page().Raw("q -1 0 0 1 595 0 cm\n")
	for i, line := range []string{
		"The lantern is lit at dusk, and put out when the sun has risen again.",
		"Visitors moor at the northern jetty, which is behind the lighthouse.",
	} {
		page.Text(pdfmake.Regular, 13, 60, float64(120+20*i), line)
	}
	got := settled(t, env, "a.png", "image/png", string(doctools.Render(t, file.Bytes(), doctools.PNG)))
	if got.Text("status") != "ready" || len(got.List("warnings")) != 1 ||
		!strings.HasPrefix(got.Text("warnings", 0), "Page 1 was read by OCR with low confidence (") {
		t.Errorf("got %s", got.Body)
	}
}
