package scenario

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

const uploadPath = "/knowledge-base/sources/upload"

// leavesNothing fails unless an installation whose uploads were all refused or cut off is as it
// was.
func leavesNothing(t *testing.T, env *harness.Env) {
	t.Helper()
	traces := func() string {
		return harness.Rows[string](t, env, `SELECT concat_ws(' ',
			(SELECT 'sources: ' || count(*) FROM sources HAVING count(*) > 0),
			(SELECT 'stray blobs: ' || count(*) FROM stray_blobs HAVING count(*) > 0),
			(SELECT 'held rooms: ' || count(*) FROM upload_holds HAVING count(*) > 0),
			(SELECT 'used bytes: ' || sum(kb_used_bytes) FROM workspaces HAVING sum(kb_used_bytes) > 0),
			(SELECT 'events: ' || count(*) FROM events HAVING count(*) > 0))`)[0]
	}
	// Who hangs up does not wait for what is put right behind it.
	harness.Await(t, harness.Patience, "nothing is left", func() bool { return traces() == "" && len(env.Files(t)) == 0 })
}

// TestUploadContradictions: what a file is, what it is called and what it is declared as.
func TestUploadContradictions(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	const (
		png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"
		exe = "MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00\xb8\x00\x00\x00"
		elf = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00"
		pdf = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"
		mp3 = "ID3\x03\x00\x00\x00\x00\x00\x21TIT2\x00\x00\x00\x00"
		ole = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\x00\x00\x00\x00"
		zip = "PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00notes.txt"
		gz  = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x4c"
	)
	for name, row := range map[string]part{
		"a picture called PDF":         {filename: "a.pdf", mediaType: "application/pdf", content: png},
		"a picture that is declared":   {filename: "a.pdf", mediaType: "image/png", content: png},
		"a program called text":        {filename: "a.txt", mediaType: "text/plain", content: exe},
		"a program without a type":     {filename: "a.md", content: elf},
		"a program as octets":          {filename: "a.json", mediaType: "application/octet-stream", content: elf},
		"a program by its name":        {filename: "a.exe", content: exe},
		"a PDF called picture":         {filename: "a.png", mediaType: "image/png", content: pdf},
		"a PDF called text":            {filename: "a.txt", mediaType: "text/plain", content: pdf},
		"a PDF declared as text":       {filename: "a.pdf", mediaType: "text/plain", content: "Some text."},
		"a song called page":           {filename: "a.html", mediaType: "text/html", content: mp3},
		"an old DOC called text":       {filename: "a.txt", mediaType: "text/plain", content: ole},
		"an old DOC":                   {filename: "a.doc", mediaType: "application/msword", content: ole},
		"an archive called DOCX":       {filename: "a.docx", content: zip},
		"an archive called EPUB":       {filename: "a.epub", mediaType: "application/epub+zip", content: gz},
		"an archive called JSON":       {filename: "a.json", mediaType: "application/json", content: zip},
		"a JPEG called WEBP":           {filename: "a.webp", mediaType: "image/webp", content: "\xff\xd8\xff\xe0\x00\x10JFIF\x00"},
		"a WEBP called JPEG":           {filename: "a.jpg", mediaType: "image/jpeg", content: "RIFF\x24\x00\x00\x00WEBPVP8 \x00\x00\x00\x00"},
		"no name and no type":          {filename: "README", content: "Some text."},
		"a type that is none":          {filename: "a.txt", mediaType: "text", content: "Some text."},
		"a type with a line break":     {filename: "a.txt", mediaType: "video/mp4; codecs=\"a\"", content: "Some text."},
		"a folder's name as extension": {filename: "a.txt/b", content: "Some text."},
	} {
		row.name = "file"
		body, contentType := form(t, row)
		for how, sent := range map[string]any{"length": body, "chunked": io.MultiReader(strings.NewReader(body))} {
			got := env.Do(t, "POST", env.Tenant.In(uploadPath), sent, harness.Header("Content-Type", contentType))
			if got.Status != 415 || got.Code() != "kb-unsupported-media-type" || got.Problem.Detail == "" {
				t.Errorf("%s, %s: got %d %s", name, how, got.Status, got.Body)
			}
		}
	}
	leavesNothing(t, env)
}

// wireForm is a body of a form written by hand.
func wireForm(boundary string, parts ...string) string {
	var out strings.Builder
	for _, one := range parts {
		out.WriteString("--" + boundary + "\r\n" + one + "\r\n")
	}
	return out.String() + "--" + boundary + "--\r\n"
}

func wirePart(disposition, content string) string {
	return "Content-Disposition: form-data; " + disposition + "\r\n\r\n" + content
}

// TestUploadForms: what clients of all kinds make of a form.
func TestUploadForms(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	const odd = "a'()+_,-./:=? b"
	file := wirePart(`name="file"; filename="a.txt"`, "Some text.")
	for name, row := range map[string]struct {
		boundary, body string
		// want is the source's name; empty: refused with 400.
		want string
	}{
		"usual":                   {"b", wireForm("b", file), "a.txt"},
		"name before":             {"b", wireForm("b", wirePart(`name="name"`, "Guide"), file), "Guide"},
		"name after":              {"b", wireForm("b", file, wirePart(`name="name"`, "Grüße 🦜")), "Grüße 🦜"},
		"empty name":              {"b", wireForm("b", file, wirePart(`name="name"`, "")), "a.txt"},
		"odd boundary":            {odd, wireForm(odd, file), "a.txt"},
		"long boundary":           {strings.Repeat("-", 70), wireForm(strings.Repeat("-", 70), file), "a.txt"},
		"preamble and epilogue":   {"b", "This is a form.\r\n" + wireForm("b", file) + "That was it.", "a.txt"},
		"boundary in the content": {"b", wireForm("b", wirePart(`name="file"; filename="a.txt"`, "one\r\n--bc\r\n--\r\n-b two")), "a.txt"},
		"only line feeds":         {"b", strings.ReplaceAll(wireForm("b", file), "\r\n", "\n"), "a.txt"},
		"filename*": {
			"b",
			wireForm("b", wirePart(`name="file"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%E2%82%AC.txt`, "x")), "Grüße €.txt",
		},
		"both filenames": {
			"b",
			wireForm("b", wirePart(`name="file"; filename="Gr__e.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt`, "x")), "Grüße.txt",
		},
		"UTF-8 as it is":        {"b", wireForm("b", wirePart(`name="file"; filename="Grüße.txt"`, "x")), "Grüße.txt"},
		"quotes":                {"b", wireForm("b", wirePart(`name="file"; filename="a \"b\".txt"`, "x")), `a "b".txt`},
		"browser's quotes":      {"b", wireForm("b", wirePart(`name="file"; filename="a %22b%22.txt"`, "x")), `a %22b%22.txt`},
		"unquoted":              {"b", wireForm("b", wirePart(`name=file; filename=a.txt`, "x")), "a.txt"},
		"a path":                {"b", wireForm("b", wirePart(`name="file"; filename="../../etc/passwd.txt"`, "x")), "passwd.txt"},
		"a path of Windows":     {"b", wireForm("b", wirePart(`name="file"; filename="C:\\Users\\a\\b.txt"`, "x")), "b.txt"},
		"an absolute path":      {"b", wireForm("b", wirePart(`name="file"; filename="/etc/shadow.txt"`, "x")), "shadow.txt"},
		"a hidden file":         {"b", wireForm("b", wirePart(`name="file"; filename="..txt"`, "x")), "..txt"},
		"a long file name":      {"b", wireForm("b", wirePart(`name="file"; filename="`+long(300)+`.txt"`, "x")), long(200)},
		"a NUL in it":           {"b", wireForm("b", wirePart(`name="file"; filename*=UTF-8''a%00b.txt`, "x")), "ab.txt"},
		"no final boundary":     {"b", strings.TrimSuffix(wireForm("b", file), "--b--\r\n"), ""},
		"half a final boundary": {"b", strings.TrimSuffix(wireForm("b", file), "--\r\n"), ""},
		"nothing":               {"b", "", ""},
		"no parts":              {"b", "--b--\r\n", ""},
		"no file":               {"b", wireForm("b", wirePart(`name="name"`, "Guide")), ""},
		"two files":             {"b", wireForm("b", file, file), ""},
		"two names":             {"b", wireForm("b", wirePart(`name="name"`, "a"), wirePart(`name="name"`, "b"), file), ""},
		"base64":                {"b", wireForm("b", "Content-Transfer-Encoding: base64\r\n"+file), ""},
		"another part":          {"b", wireForm("b", file, wirePart(`name="owner"`, "me")), ""},
		"no OCR":                {"b", wireForm("b", wirePart(`name="force_ocr"`, "false"), file), "a.txt"},
		"no OCR, after":         {"b", wireForm("b", file, wirePart(`name="force_ocr"`, "false")), "a.txt"},
		"OCR of text":           {"b", wireForm("b", wirePart(`name="force_ocr"`, "true"), file), ""},
		"OCR of text, after":    {"b", wireForm("b", file, wirePart(`name="force_ocr"`, "true")), ""},
		"OCR, perhaps":          {"b", wireForm("b", wirePart(`name="force_ocr"`, "yes"), file), ""},
		"OCR twice":             {"b", wireForm("b", wirePart(`name="force_ocr"`, "false"), wirePart(`name="force_ocr"`, "false"), file), ""},
		"language of text":      {"b", wireForm("b", wirePart(`name="ocr_languages"`, "eng"), file), ""},
		"no language":           {"b", wireForm("b", wirePart(`name="ocr_languages"`, ""), file), "a.txt"},
		"a part without a name": {"b", wireForm("b", wirePart(`filename="a.txt"`, "x")), ""},
		"a part without a head": {"b", "--b\r\n\r\nSome text.\r\n--b--\r\n", ""},
		"another boundary":      {"c", wireForm("b", file), ""},
		"a long name":           {"b", wireForm("b", wirePart(`name="name"`, long(201)), file), ""},
		"a huge name":           {"b", wireForm("b", wirePart(`name="name"`, long(1<<20)), file), ""},
		"a huge head":           {"b", wireForm("b", "X-Padding: "+long(4<<20)+"\r\n"+file), "a.txt"},
		"too huge a head":       {"b", wireForm("b", "X-Padding: "+long(20<<20)+"\r\n"+file), ""},
		"many heads":            {"b", wireForm("b", strings.Repeat("X-Padding: x\r\n", 20000)+file), ""},
	} {
		for how, sent := range map[string]any{"length": row.body, "chunked": io.MultiReader(strings.NewReader(row.body))} {
			got := env.Do(t, "POST", env.Tenant.In(uploadPath), sent, harness.Header("Content-Type",
				fmt.Sprintf("multipart/form-data; boundary=%q", row.boundary)))
			if row.want != "" && (got.Status != 202 || got.Text("name") != row.want) {
				t.Errorf("%s, %s: got %d %s, want %q", name, how, got.Status, got.Body, row.want)
			}
			if row.want == "" && (got.Status != 400 || got.Code() != "invalid-request") {
				t.Errorf("%s, %s: got %d %s, want 400", name, how, got.Status, got.Body)
			}
			if id := got.Text("id"); id != "" {
				env.Do(t, "DELETE", env.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 204)
			}
		}
	}
}

// TestUploadAborted hangs up at many points of an upload, over HTTP/1.1 and as a stream of
// messages.
func TestUploadAborted(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	body, contentType := form(t, part{name: "name", content: "Guide"}, part{
		name: "file", filename: "a.txt",
		mediaType: "text/plain", content: strings.Repeat("Some text. ", 60_000),
	})
	for _, share := range []float64{0, 0.0001, 0.001, 0.01, 0.3, 0.7, 0.999, 0.99999} {
		for _, framing := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)), "Transfer-Encoding: chunked\r\n\r\n"} {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(env.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			sent := body[:int(float64(len(body))*share)]
			if strings.HasPrefix(framing, "Transfer") {
				sent = fmt.Sprintf("%x\r\n%s", len(body), sent)
			}
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s%s",
				env.Tenant.In(uploadPath), env.Tenant.Admin, contentType, framing, sent)
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, protocol := range harness.Protocols() {
		for pieces := range 4 {
			ctx, hangUp := context.WithCancel(t.Context())
			stream, err := env.Clients(t, protocol, env.Tenant.Operator).Knowledge.UploadSource(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_ = stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Metadata{
				Metadata: &parlancev1.UploadSourceMetadata{
					WorkspaceId: env.Tenant.WorkspaceID, Filename: "a.txt",
				},
			}}) // whether it arrives is of no matter
			for range pieces {
				_ = stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{
					Data: []byte(strings.Repeat("Some text. ", 40_000)),
				}})
			}
			hangUp() // and no end is said: it might arrive before the hanging up, and the upload be whole
		}
	}
	leavesNothing(t, env)
}

// TestUploadMessages: the order of the messages of a stream.
func TestUploadMessages(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	metadata := &parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Metadata{
		Metadata: &parlancev1.UploadSourceMetadata{WorkspaceId: env.Tenant.WorkspaceID, Filename: "a.txt"},
	}}
	program := &parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{
		Data: []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff"),
	}}
	elsewhere := &parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Metadata{
		Metadata: &parlancev1.UploadSourceMetadata{WorkspaceId: env.NewTenant(t, "").WorkspaceID, Filename: "a.txt"},
	}}
	data := &parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{Data: []byte("Some text.")}}
	large := &parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{Data: []byte(long(1<<20 + 1))}}
	nothing := &parlancev1.UploadSourceRequest{}
	for name, row := range map[string]struct {
		messages []*parlancev1.UploadSourceRequest
		reason   string
	}{
		"no message":          {nil, "invalid-request"},
		"data first":          {[]*parlancev1.UploadSourceRequest{data, metadata}, "invalid-request"},
		"nothing first":       {[]*parlancev1.UploadSourceRequest{nothing, metadata, data}, "invalid-request"},
		"metadata twice":      {[]*parlancev1.UploadSourceRequest{metadata, metadata, data}, "invalid-request"},
		"metadata in between": {[]*parlancev1.UploadSourceRequest{metadata, data, metadata, data}, "invalid-request"},
		"a large piece":       {[]*parlancev1.UploadSourceRequest{metadata, large}, "invalid-request"},
		"a program":           {[]*parlancev1.UploadSourceRequest{metadata, program}, "kb-unsupported-media-type"},
		"another's workspace": {[]*parlancev1.UploadSourceRequest{elsewhere, data}, "not-found"},
	} {
		for _, protocol := range harness.Protocols() {
			stream, err := env.Clients(t, protocol, env.Tenant.Operator).Knowledge.UploadSource(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, message := range row.messages {
				if stream.Send(message) != nil {
					break // answered already
				}
			}
			_, err = stream.CloseAndReceive()
			if got := wireReason(err); got != row.reason {
				t.Errorf("%s, %s: got %q (%v), want %q", name, protocol.Name, got, err, row.reason)
			}
		}
	}
	leavesNothing(t, env)
}

// wireReason is the reason that a Connect error carries.
func wireReason(err error) string {
	wire, _ := errors.AsType[*connect.Error](err)
	if wire == nil {
		return ""
	}
	for _, detail := range wire.Details() {
		if value, err := detail.Value(); err == nil {
			if info, ok := value.(*errdetails.ErrorInfo); ok {
				return info.GetReason()
			}
		}
	}
	return ""
}

// TestRefusedUploadIsAnswered: who sends a file that is refused gets the answer, also when it looks
// for one only after the last byte; and nobody is read from for ever.
func TestRefusedUploadIsAnswered(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	const megabytes = 24
	head := wirePart(`name="file"; filename="a.exe"`, "MZ")
	request := func(length int, extra string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; "+
			"boundary=b\r\nContent-Length: %d\r\n%s\r\n", env.Tenant.In(uploadPath), env.Tenant.Admin, length, extra)
	}
	open := func(t *testing.T) net.Conn {
		t.Helper()
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(env.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	check := func(t *testing.T, conn net.Conn) {
		t.Helper()
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal("no answer: ", err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != 415 || !strings.Contains(string(body), "kb-unsupported-media-type") {
			t.Errorf("got %d %s, %v", answer.StatusCode, body, err)
		}
	}
	t.Run("after the last byte", func(t *testing.T) {
		t.Parallel()
		conn := open(t)
		tail := "\r\n--b--\r\n"
		if _, err := io.WriteString(conn, request(len("--b\r\n"+head)+megabytes<<20+len(tail), "")+"--b\r\n"+head); err != nil {
			t.Fatal(err)
		}
		for range megabytes {
			if _, err := io.WriteString(conn, long(1<<20)); err != nil {
				t.Fatal("the connection broke before everything was sent: ", err)
			}
		}
		if _, err := io.WriteString(conn, tail); err != nil {
			t.Fatal(err)
		}
		check(t, conn)
	})
	t.Run("at once", func(t *testing.T) { // for who listens while sending
		t.Parallel()
		// Before the rest is waited for, for five seconds; a busy machine may be as slow, but not each
		// time.
		harness.Await(t, harness.Patience, "an answer within four seconds", func() bool {
			conn := open(t)
			if _, err := io.WriteString(conn, request(1<<30, "")+"--b\r\n"+head+long(1<<20)); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(harness.Patience)); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			check(t, conn)
			return time.Since(begun) < 4*time.Second
		})
	})
	t.Run("before it is sent", func(t *testing.T) {
		t.Parallel()
		conn := open(t)
		if _, err := io.WriteString(conn, strings.Replace(request(1<<20, "Expect: 100-continue\r\n"),
			"multipart/form-data", "multipart/mixed", 1)); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != 415 {
			t.Fatalf("got %v, %v; want 415 and no 100", answer, err)
		}
		_ = answer.Body.Close()
	})
	t.Run("not for ever", func(t *testing.T) {
		t.Parallel()
		conn := open(t)
		if _, err := io.WriteString(conn, request(8<<30, "")+"--b\r\n"+head); err != nil {
			t.Fatal(err)
		}
		sent := 0
		for piece := long(1 << 20); sent < 1<<10; sent++ {
			if _, err := io.WriteString(conn, piece); err != nil {
				break
			}
		}
		if sent >= 1<<10 {
			t.Error("a gigabyte of a refused upload was read")
		}
	})
	t.Run("to strangers", func(t *testing.T) {
		t.Parallel()
		conn := open(t)
		if _, err := io.WriteString(conn, strings.Replace(request(8<<30, ""), "Bearer ", "Bearer x", 1)+"--b\r\n"+head); err != nil {
			t.Fatal(err)
		}
		sent := 0
		for piece := long(1 << 20); sent < 64; sent++ { // beyond what both ends of a socket hold
			if _, err := io.WriteString(conn, piece); err != nil {
				break
			}
		}
		if sent >= 64 {
			t.Error("64 MiB were read from nobody in particular")
		}
	})
	leavesNothing(t, env)
}

// TestReplaceOverREST: PUT …/content takes a form as an upload does, is safe to repeat, and answers
// for sources that are not there.
func TestReplaceOverREST(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	inline := env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"), `{"name":"hours","content":"We open at nine."}`).Must(t, 202)
	path := env.Tenant.In("/knowledge-base/sources/" + inline.Text("id"))
	ready := func() harness.Response {
		var source harness.Response
		harness.Await(t, harness.Patience, "the source is ready", func() bool {
			source = env.Do(t, "GET", path, nil).Must(t, 200)
			return source.Text("status") == "ready"
		})
		return source
	}
	ready()
	body, contentType := form(t, part{name: "file", filename: "new.txt", mediaType: "text/plain", content: "We open at ten."})
	put := func(path string, with ...harness.With) harness.Response {
		t.Helper()
		response, err := env.Send(t, "PUT", path+"/content", body, append(with, harness.Header("Content-Type", contentType))...)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	key := harness.Header("Idempotency-Key", "replace-once")
	first := put(path, key).Must(t, 202)
	if first.Text("name") != "hours" || first.Text("kind") != "file" || first.At("replacing") != true ||
		first.Text("previous", "sha256") != inline.Text("sha256") {
		t.Errorf("replaced: %s", first.Body)
	}
	if again := put(path, key).Must(t, 202); again.Text("sha256") != first.Text("sha256") {
		t.Errorf("repeated: %s", again.Body)
	}
	if source := ready(); source.Text("previous", "kind") != "inline" || source.At("replacing") != false {
		t.Errorf("ready: %s", source.Body)
	}
	if restored := env.Do(t, "POST", path+"/restore", `{}`).Must(t, 202); restored.Text("sha256") != inline.Text("sha256") {
		t.Errorf("restored: %s", restored.Body)
	}
	if source := ready(); source.Text("content") != "We open at nine." {
		t.Errorf("restored: %s", source.Body)
	}
	if renamed := env.Do(t, "PATCH", path, `{"name":"times"}`).Must(t, 200); renamed.Text("name") != "times" {
		t.Errorf("renamed: %s", renamed.Body)
	}
	env.Do(t, "PATCH", path, map[string]any{"content": strings.Repeat("a", 1<<20+1)}).Must(t, 413)
	put(env.Tenant.In("/knowledge-base/sources/src_01m8cr7hqqjn65khdawbm9czd3")).Must(t, 404)
	other := env.NewTenant(t, "")
	put(path, harness.Key(other.Operator)).Must(t, 404)
	if n := harness.Rows[int](t, env, "SELECT count(*) FROM events WHERE type = 'kb.source_ingested'")[0]; n != 3 {
		t.Errorf("announced %d times, want for the first, the replaced and the restored", n)
	}
}
