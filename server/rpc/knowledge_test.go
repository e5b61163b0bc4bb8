package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/rpc"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

// kbFixture is the knowledge base behind real HTTP, for a tenant that may upload 64 KiB a file and
// store 100.
type kbFixture struct {
	t         *testing.T
	db        *postgres.DB
	blobs     string
	knowledge *knowledge.Service
	ingestion *ingestion.Service
	ref       workspaces.Ref
	url       string
	client    parlancev1connect.KnowledgeServiceClient
	// done gets a word whenever the upload route has answered.
	done chan struct{}
}

const shelfKey = "Bearer good"

func newKBFixture(t *testing.T) *kbFixture {
	t.Helper()
	db := pgtest.Open(t)
	s := &kbFixture{t: t, db: db, blobs: t.TempDir(), done: make(chan struct{}, 100)}
	bucket, err := blob.Open("file://" + s.blobs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	tenancy := workspaces.New(workspaces.Deps{DB: db, Plans: workspaces.Plans{
		"small": {Name: "small", KBStorageBytes: 100 << 10, KBUploadBytes: 64 << 10},
	}})
	created, err := tenancy.CreateTenant(t.Context(), "acme", "small")
	if err != nil {
		t.Fatal(err)
	}
	s.ref = workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
	s.knowledge = knowledge.New(knowledge.Deps{
		DB: db, Workspaces: tenancy, Agents: agents.New(agents.Deps{DB: db, Workspaces: tenancy}), Bucket: bucket,
		Embedders: knowledge.Embedders{hashing.New()},
	})
	s.ingestion = ingestion.New(ingestion.Deps{DB: db, Bucket: bucket, Embedders: knowledge.Embedders{hashing.New()}})
	s.serve(rpc.NewAccess(tenancy))
	return s
}

// serve puts the routes behind a gate that knows one key.
func (s *kbFixture) serve(access rpc.Access) {
	admit := func(ctx context.Context, _ string, request, _ http.Header) (context.Context, error) {
		if request.Get("Authorization") != shelfKey {
			return ctx, fault.New(fault.AuthMissing, "No key.")
		}
		return workspaces.WithPrincipal(ctx, workspaces.Principal{TenantID: s.ref.TenantID, Scope: workspaces.ScopeOperator}), nil
	}
	deps := rpc.FileDeps{
		Access: access, Knowledge: s.knowledge, Admit: admit, Problem: problem.Writer{},
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	validator, err := protovalidate.New()
	if err != nil {
		s.t.Fatal(err)
	}
	calls := &interceptor.RPC{
		Log: deps.Log, Metrics: telemetry.NewMetrics("test"), Now: time.Now,
		Validator: validator, Undecoded: rest.Undecoded, Pages: interceptor.NewPages(nil),
	}
	mux := http.NewServeMux()
	upload := rpc.NewUpload(deps, parlancev1connect.KnowledgeServiceUploadSourceProcedure)
	mux.HandleFunc("POST /v1/workspaces/{workspace_id}/knowledge-base/sources/upload", func(w http.ResponseWriter, r *http.Request) {
		defer func() { s.done <- struct{}{} }()
		upload.ServeHTTP(w, r)
	})
	mux.Handle("GET /v1/workspaces/{workspace_id}/knowledge-base/sources/{source_id}/content", rpc.NewDownload(deps))
	procedures, handler := parlancev1connect.NewKnowledgeServiceHandler(rpc.NewKnowledge(access, s.knowledge, nil, nil,
		rpc.Stopping{}), connect.WithInterceptors(calls, access.Interceptor()))
	mux.Handle(procedures, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := admit(r.Context(), "", r.Header, nil)
		if err == nil {
			handler.ServeHTTP(w, r.WithContext(ctx))
		}
	}))
	server := httptest.NewServer(mux)
	s.t.Cleanup(server.Close)
	s.url = server.URL
	s.client = parlancev1connect.NewKnowledgeServiceClient(&http.Client{Transport: withKey{}}, server.URL)
}

type withKey struct{}

func (withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", shelfKey)
	return http.DefaultTransport.RoundTrip(r)
}

func (s *kbFixture) uploadURL() string {
	return s.url + "/v1/workspaces/" + string(s.ref.ID) + "/knowledge-base/sources/upload"
}

func (s *kbFixture) nothingStored() {
	s.t.Helper()
	var rows, used, files int
	err := s.db.NewRaw("SELECT (SELECT count(*) FROM sources) + (SELECT count(*) FROM stray_blobs), (SELECT "+
		"sum(kb_used_bytes) FROM workspaces)").Scan(s.t.Context(), &rows, &used)
	if err != nil {
		s.t.Fatal(err)
	}
	err = filepath.WalkDir(s.blobs, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil || rows+used+files != 0 {
		s.t.Errorf("something was stored: %d rows, %d bytes, %d files, %v", rows, used, files, err)
	}
}

// part is one part of a form; a file when it has a filename.
type part struct{ name, filename, mediaType, body string }

func form(parts ...part) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q", p.name)}}
		if p.filename != "" {
			header.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", p.name, p.filename))
		}
		if p.mediaType != "" {
			header.Set("Content-Type", p.mediaType)
		}
		out, _ := w.CreatePart(header)
		_, _ = io.WriteString(out, p.body)
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

func markdown(body string) part { return part{"file", "guide.md", "text/markdown", body} }

// chunked hides the length of a body.
type chunked struct{ io.Reader }

func (s *kbFixture) post(contentType string, body io.Reader, change func(*http.Request)) (int, map[string]any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.uploadURL(), body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", shelfKey)
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("post: %v", err)
	}
	defer func() { _ = answer.Body.Close() }()
	var decoded map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&decoded); err != nil {
		s.t.Fatalf("status %d: %v", answer.StatusCode, err)
	}
	return answer.StatusCode, decoded
}

func TestUploadForm(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	name := part{name: "name", body: "Guide"}
	for title, row := range map[string]struct {
		parts []part
		name  string
		media string
	}{
		"name before":       {[]part{name, markdown("# Hello\n")}, "Guide", "text/markdown"},
		"name after":        {[]part{markdown("# Hello\n"), name}, "Guide", "text/markdown"},
		"no name":           {[]part{markdown("# Hello\n")}, "guide.md", "text/markdown"},
		"type by extension": {[]part{{"file", "a.txt", "application/octet-stream", "Hello"}}, "a.txt", "text/plain"},
		"charset":           {[]part{{"file", "a", "text/plain; charset=utf-8", "Hello"}}, "a", "text/plain"},
	} {
		contentType, body := form(row.parts...)
		for _, reader := range []io.Reader{strings.NewReader(body), chunked{strings.NewReader(body)}} {
			status, got := s.post(contentType, reader, nil)
			if status != http.StatusAccepted || got["name"] != row.name || got["media_type"] != row.media ||
				got["status"] != "queued" || got["kind"] != "file" {
				t.Errorf("%s: got %d %v", title, status, got)
			}
			if _, present := got["content"]; present {
				t.Errorf("%s: content is in the answer", title)
			}
		}
	}
}

func TestUploadFormRefused(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	contentType, good := form(markdown("# Hello\n"))
	type row struct {
		title, contentType, body string
		change                   func(*http.Request)
		status                   int
		code                     fault.Reason
	}
	rows := []row{
		{"JSON", "application/json", `{}`, nil, 415, fault.UnsupportedEncoding},
		{"no boundary", "multipart/form-data", good, nil, 400, fault.InvalidRequest},
		{"another boundary", "multipart/form-data; boundary=x", good, nil, 400, fault.InvalidRequest},
		{"empty body", contentType, "", nil, 400, fault.InvalidRequest},
		{"cut off in the file", contentType, good[:strings.Index(good, "Hello")+2], nil, 400, fault.InvalidRequest},
		{"cut off before the end", contentType, good[:len(good)-6], nil, 400, fault.InvalidRequest},
		{"no key", contentType, good, func(r *http.Request) { r.Header.Del("Authorization") }, 401, fault.AuthMissing},
		{"another workspace", contentType, good, func(r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path,
				string(s.ref.ID), "ws_other", 1)
		}, 404, fault.ResourceNotFound},
		{"query parameter", contentType, good, func(r *http.Request) { r.URL.RawQuery = "name=a" }, 400, fault.InvalidRequest},
	}
	add := func(title string, status int, code fault.Reason, parts ...part) {
		contentType, body := form(parts...)
		rows = append(rows, row{title, contentType, body, nil, status, code})
	}
	add("declared type", 415, fault.KBUnsupportedMediaType, part{"file", "a.zip", "application/zip", "PK"})
	add("type not built", 415, fault.KBUnsupportedMediaType, part{"file", "a.pdf", "", "%PDF-1.7"})
	add("content", 415, fault.KBUnsupportedMediaType, part{"file", "a.md", "text/markdown", "%PDF-1.7\n1 0 obj\n"})
	add("no file", 400, fault.InvalidRequest, part{name: "name", body: "a"})
	add("unknown part before", 400, fault.InvalidRequest, part{name: "colour", body: "red"}, markdown("a"))
	add("unknown part after", 400, fault.InvalidRequest, markdown("a"), part{name: "colour", body: "red"})
	add("two files", 400, fault.InvalidRequest, markdown("a"), markdown("b"))
	add("two names", 400, fault.InvalidRequest, part{name: "name", body: "a"}, markdown("a"), part{name: "name", body: "b"})
	add("long name", 400, fault.InvalidRequest, markdown("a"), part{name: "name", body: strings.Repeat("a", 201)})
	add("huge name", 400, fault.InvalidRequest, part{name: "name", body: strings.Repeat("a", 30<<10)}, markdown("a"))
	add("a little too large", 402, fault.QuotaKBUploadSize, markdown(strings.Repeat("a", 64<<10+1)))
	add("far too large", 402, fault.QuotaKBUploadSize, markdown(strings.Repeat("a", 900<<10)))
	for _, row := range rows {
		for length, body := range map[string]io.Reader{"length": strings.NewReader(row.body), "chunked": chunked{strings.NewReader(row.body)}} {
			status, got := s.post(row.contentType, body, row.change)
			if status != row.status || got["code"] != string(row.code) {
				t.Errorf("%s, %s: got %d %v, want %d %s", row.title, length, status, got, row.status, row.code)
			}
		}
	}
	s.nothingStored()
}

// TestUploadWaitsForTheKey has a caller that sends its body only when asked to.
func TestUploadWaitsForTheKey(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	contentType, body := form(markdown(strings.Repeat("a", 60<<10)))
	read := false
	reader := readerFunc(func(p []byte) (int, error) {
		read = true
		return strings.NewReader(body).Read(p)
	})
	status, _ := s.post(contentType, reader, func(r *http.Request) {
		r.Header.Set("Expect", "100-continue")
		r.Header.Del("Authorization")
	})
	if status != http.StatusUnauthorized || read {
		t.Errorf("got %d, body read: %v; want 401 and an unread body", status, read)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestUploadAborted hangs up in the middle of the file.
func TestUploadAborted(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	contentType, body := form(markdown(strings.Repeat("abc ", 10<<10)))
	for _, sent := range []int{200, 20 << 10, len(body) - 10} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			strings.TrimPrefix(s.uploadURL(), s.url), shelfKey, contentType, len(body), body[:sent])
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		<-s.done
	}
	s.nothingStored()
}

func (s *kbFixture) upload(pieces ...string) (*parlancev1.Source, error) {
	stream, err := s.client.UploadSource(s.t.Context())
	if err != nil {
		return nil, err
	}
	metadata := &parlancev1.UploadSourceMetadata{WorkspaceId: string(s.ref.ID), Filename: "guide.md"}
	if err := stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Metadata{Metadata: metadata}}); err != nil {
		return nil, err
	}
	for _, piece := range pieces {
		if err := stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{Data: []byte(piece)}}); err != nil {
			break // the server has answered already
		}
	}
	return stream.CloseAndReceive()
}

func TestKnowledgeStreams(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	source, err := s.upload("# Hel", "", "lo\n\nworld\n")
	if err != nil || source.GetName() != "guide.md" || source.GetSizeBytes() != 15 {
		t.Fatalf("upload: %v, %v", source, err)
	}
	if err := s.ingestion.Ingest(t.Context(), knowledge.SourceID(source.GetId())); err != nil {
		t.Fatal(err)
	}
	watch, err := s.client.WatchSource(t.Context(), &parlancev1.WatchSourceRequest{WorkspaceId: string(s.ref.ID), SourceId: source.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	var last *parlancev1.WatchSourceResponse
	for watch.Receive() {
		last = watch.Msg()
	}
	if watch.Err() != nil || last.GetType() != "source.updated" || last.GetSource().GetStatus() != "ready" {
		t.Errorf("watch: %v, %v", last, watch.Err())
	}
	download, err := s.client.DownloadSource(t.Context(),
		&parlancev1.DownloadSourceRequest{WorkspaceId: string(s.ref.ID), SourceId: source.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for download.Receive() {
		text = append(text, download.Msg().GetData()...)
	}
	if download.Err() != nil || string(text) != "# Hello\n\nworld\n" {
		t.Errorf("download: %q, %v", text, download.Err())
	}
}

func TestUploadStreamRefused(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	if _, err := s.upload(strings.Repeat("a", 40<<10),
		strings.Repeat("b", 40<<10)); problem.FromConnect(err).Reason != fault.QuotaKBUploadSize {
		t.Errorf("too large: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := s.client.UploadSource(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{Data: []byte("a")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.CloseAndReceive(); problem.FromConnect(err).Reason != fault.InvalidRequest {
		t.Errorf("no metadata: got %v", err)
	}
	cancel()
	s.nothingStored()
}

func TestDownloadRoute(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	source, err := s.knowledge.CreateInline(t.Context(), s.ref, `Über/Zeiten "x"`, "# Zeiten\n")
	if err != nil {
		t.Fatal(err)
	}
	get := func(id string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			s.url+"/v1/workspaces/"+string(s.ref.ID)+"/knowledge-base/sources/"+id+"/content", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := withKey{}.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	answer := get(string(source.ID))
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "# Zeiten\n" || answer.Header.Get("Content-Type") != "text/markdown" ||
		answer.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(answer.Header.Get("Content-Disposition"), "attachment; filename") {
		t.Errorf("got %q, %v, %v", body, answer.Header, err)
	}
	if missing := get("src_nothing"); missing.StatusCode != http.StatusNotFound {
		t.Errorf("unknown source: got %d, want 404", missing.StatusCode)
	}
}

func TestKnowledgeMessages(t *testing.T) {
	t.Parallel()
	s := newKBFixture(t)
	created, err := s.client.CreateInlineSource(t.Context(),
		&parlancev1.CreateInlineSourceRequest{WorkspaceId: string(s.ref.ID), Name: "a", Content: "# A\n\nMuseum.\n"})
	if err != nil || created.Content != nil {
		t.Fatalf("create: %v, %v", created, err)
	}
	got, err := s.client.GetSource(t.Context(), &parlancev1.GetSourceRequest{WorkspaceId: string(s.ref.ID), SourceId: created.GetId()})
	if err != nil || got.GetContent() != "# A\n\nMuseum.\n" || got.GetHeartbeatAt() != nil || got.GetError() != nil {
		t.Errorf("get: %v, %v", got, err)
	}
	list, err := s.client.ListSources(t.Context(), &parlancev1.ListSourcesRequest{WorkspaceId: string(s.ref.ID)})
	if err != nil || len(list.GetSources()) != 1 || list.GetSources()[0].Content != nil {
		t.Errorf("list: %v, %v", list, err)
	}
	_, err = s.client.QueryKnowledge(t.Context(), &parlancev1.QueryKnowledgeRequest{
		WorkspaceId: string(s.ref.ID),
		AgentId:     "agt_x", Q: "a", Explain: true,
	})
	var wire *connect.Error
	if !errors.As(err, &wire) || wire.Code() != connect.CodeInvalidArgument {
		t.Errorf("explain without a source: got %v, want invalid_argument", err)
	}
	if _, err := s.client.ReprocessSource(t.Context(),
		&parlancev1.ReprocessSourceRequest{
			WorkspaceId: string(s.ref.ID), SourceId: created.GetId(),
			ForceOcr: true,
		}); problem.FromConnect(err).Reason != fault.InvalidRequest {
		t.Errorf("force_ocr: got %v", err)
	}
}
