package scenario

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/draw"
	"image/png"
	"strings"
	"testing"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// sheet is a page with a heading and two lines.
func sheet(heading string, lines ...string) *pdfmake.File {
	file := pdfmake.New()
	page := file.Page().Text(pdfmake.Bold, 26, 60, 80, heading)
	for i, line := range lines {
		page.Text(pdfmake.Regular, 13, 60, float64(120+20*i), line)
	}
	return file
}

// TestPicturesAreRead: pictures and pages that are only a picture, from the upload to the answer.
func TestPicturesAreRead(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	scan := pdfmake.New()
	text := "This page has a text layer, which is long enough to be believed without a look at its picture."
	scan.Page().Text(pdfmake.Regular, 10, 60, 80, text)
	scan.Page().Grey(grey(t,
		doctools.Render(t, sheet("Moorings", "Visitors moor at the northern jetty behind the lighthouse.").Bytes(), doctools.PNG)))
	for name, row := range map[string]struct {
		mediaType, content, question string
		pages, recognized, page      float64
	}{
		"hours.png": {
			"image/png",
			string(doctools.Render(t,
				sheet("Opening hours", "The library closes on Mondays because of the cleaning.").Bytes(),
				doctools.PNG)), "library closes Mondays cleaning", 1, 1, 1,
		},
		"recipe.jpg": {
			"image/jpeg",
			string(doctools.Render(t, sheet("Pancakes", "Whisk three eggs with flour and milk before frying.").Bytes(),
				doctools.JPEG)), "whisk eggs flour milk", 1, 1, 1,
		},
		"ticket.webp": {
			"image/webp",
			string(doctools.Render(t, sheet("Ferry", "The ferry to the island departs at noon from pier seven.").Bytes(),
				doctools.WEBP)), "ferry island departs pier", 1, 1, 1,
		},
		"mixed.pdf": {"application/pdf", string(scan.Bytes()), "visitors moor northern jetty lighthouse", 2, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := settled(t, env, name, row.mediaType, row.content)
			if source.Text("status") != "ready" || source.At("page_count") != row.pages || source.At("ocr_page_count") != row.recognized {
				t.Fatalf("got %s", source.Body)
			}
			agent := env.Do(t, "POST", env.Tenant.In("/agents"), map[string]any{"name": name}).Must(t, 201).Text("id")
			base := env.Tenant.In("/agents/" + agent + "/knowledge-base")
			env.Do(t, "POST", base+"/attach", map[string]any{"source_ids": []string{source.Text("id")}}).Must(t, 200)
			found := env.Do(t, "POST", env.Tenant.In("/knowledge-base/query"), map[string]any{"agent_id": agent, "q": row.question}).Must(t, 200)
			if len(found.List("chunks")) == 0 {
				t.Fatalf("nothing was found: %s", found.Body)
			}
			for _, word := range strings.Fields(strings.ToLower(row.question)) {
				if !strings.Contains(strings.ToLower(found.Text("chunks", 0, "content")), word) {
					t.Errorf("%q is missing: %s", word, found.Body)
				}
			}
			if found.At("chunks", 0, "page_end") != row.page {
				t.Errorf("page %v of %s", found.At("chunks", 0, "page_end"), found.Body)
			}
		})
	}
}

// TestForcedOCR: a PDF with text is read from its pictures at once when the upload says so, over
// REST before and after the file, and over a stream of messages.
func TestForcedOCR(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	env := harness.Start(t, harness.Options{})
	content := sheet("Lantern", "The lantern is lit at dusk, and put out when the sun has risen again.").Bytes()
	file := part{name: "file", filename: "a.pdf", mediaType: "application/pdf", content: string(content)}
	forced := part{name: "force_ocr", content: "true"}
	var ids []string
	for _, parts := range [][]part{{forced, file}, {file, forced}} {
		body, contentType := form(t, parts...)
		ids = append(ids, env.Do(t, "POST", env.Tenant.In(uploadPath), body, harness.Header("Content-Type", contentType)).Must(t, 202).Text("id"))
	}
	stream, err := env.Clients(t, harness.Protocols()[3], env.Tenant.Operator).Knowledge.UploadSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []*parlancev1.UploadSourceRequest{
		{Part: &parlancev1.UploadSourceRequest_Metadata{Metadata: &parlancev1.UploadSourceMetadata{
			WorkspaceId: env.Tenant.WorkspaceID, Filename: "a.pdf", ForceOcr: true,
		}}},
		{Part: &parlancev1.UploadSourceRequest_Data{Data: content}},
	} {
		if err := stream.Send(message); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := stream.CloseAndReceive()
	if err != nil {
		t.Fatal(err)
	}
	ids = append(ids, sent.GetId())
	harness.Await(t, 2*harness.Patience, "all are ready", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE status = 'ready'")[0] == len(ids)
	})
	for i, id := range ids {
		if got := env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 200); got.At("ocr_page_count") != 1.0 {
			t.Errorf("upload %d was not read by OCR: %s", i, got.Body)
		}
	}
}

// grey are the pixels of a PNG, a byte each.
func grey(t *testing.T, data []byte) (pixels []byte, width, height int) {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := image.NewGray(picture.Bounds())
	draw.Draw(out, out.Rect, picture, image.Point{}, draw.Src)
	return out.Pix, out.Rect.Dx(), out.Rect.Dy()
}

// TestPicturesThatFail: a hostile picture fails by itself, with a reason for people.
func TestPicturesThatFail(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	good := string(doctools.Render(t, sheet("Good", "This one is read.").Bytes(), doctools.PNG))
	huge := []byte(good)
	binary.BigEndian.PutUint32(huge[16:], 50_000)
	binary.BigEndian.PutUint32(huge[20:], 50_000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	for name, row := range map[string]struct{ content, code string }{
		"huge":     {string(huge), "too-large"},
		"cut off":  {good[:60], "corrupt"},
		"no words": {string(doctools.Render(t, sheet("").Bytes(), doctools.PNG)), "empty"},
		"good":     {good, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := settled(t, env, "a.png", "image/png", row.content)
			if failed := source.Text("status") == "failed"; failed != (row.code != "") || failed &&
				(source.Text("error", "code") != row.code || source.Text("error", "message") == "") {
				t.Errorf("got %s", source.Body)
			}
		})
	}
}

// settled uploads a file and waits until it is ready or failed.
func settled(t *testing.T, env *harness.Env, name, mediaType, content string) harness.Response {
	t.Helper()
	body, contentType := form(t, part{name: "file", filename: name, mediaType: mediaType, content: content})
	made := env.Do(t, "POST", env.Tenant.In(uploadPath), body, harness.Header("Content-Type", contentType)).Must(t, 202)
	return await(t, env, made.Text("id"))
}
