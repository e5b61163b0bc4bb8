package scenario

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// limited is an installation with a plan "edge": 4 MiB of storage, 1 MiB an upload.
func limited(t *testing.T) (*harness.Env, harness.Tenant) {
	t.Helper()
	plans := filepath.Join(t.TempDir(), "plans.json")
	text := `{"edge": {"kb_storage_bytes": 4194304, "kb_upload_bytes": 1048576, "tools": true},
		"enterprise": {"kb_storage_bytes": 107374182400, "kb_upload_bytes": 1073741824, "tools": true, "mcp": true}}`
	if err := os.WriteFile(plans, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{"PARLANCE_PLANS_FILE": plans}})
	return env, env.NewTenant(t, "edge")
}

// sendMessages uploads over a stream of messages.
func sendMessages(
	t *testing.T, env *harness.Env, protocol harness.Protocol, tenant harness.Tenant, filename string, content io.Reader,
) (*parlancev1.Source, error) {
	t.Helper()
	stream, err := env.Clients(t, protocol, tenant.Operator).Knowledge.UploadSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Metadata{
		Metadata: &parlancev1.UploadSourceMetadata{
			WorkspaceId: tenant.WorkspaceID, Filename: filename,
		},
	}})
	piece := make([]byte, 256<<10)
	for err == nil { // an error of Send is that of the answer
		n, readErr := io.ReadFull(content, piece)
		if n == 0 {
			break
		}
		err = stream.Send(&parlancev1.UploadSourceRequest{Part: &parlancev1.UploadSourceRequest_Data{Data: bytes.Clone(piece[:n])}})
		if readErr != nil {
			break
		}
	}
	return stream.CloseAndReceive()
}

// TestUploadOverThePlan: a file over the plan's size is refused whatever is known of it beforehand,
// and a lying length helps nobody.
func TestUploadOverThePlan(t *testing.T) {
	t.Parallel()
	env, tenant := limited(t)
	big, contentType := form(t, part{name: "file", filename: "a.txt", mediaType: "text/plain", content: long(1<<20 + 1)})
	exact, exactType := form(t, part{
		name: "file", filename: "a.txt", mediaType: "text/plain",
		content: long(1 << 20),
	}, part{name: "name", content: "Exactly"})
	post := func(contentType string, body any) harness.Response {
		return env.Do(t, "POST", tenant.In(uploadPath), body, harness.Key(tenant.Operator), harness.Header("Content-Type", contentType))
	}
	for how, body := range map[string]any{"length": big, "chunked": io.MultiReader(strings.NewReader(big))} {
		got := post(contentType, body)
		checkProblem(t, got, 402, "quota-exceeded-kb-upload-size")
		if got.At("limit_bytes") == nil {
			t.Errorf("%s: the limit is not told: %s", how, got.Body)
		}
	}
	for _, protocol := range harness.Protocols() {
		if _, err := sendMessages(t, env, protocol, tenant, "a.txt",
			strings.NewReader(long(1<<20+1))); wireReason(err) != "quota-exceeded-kb-upload-size" {
			t.Errorf("%s: got %v", protocol.Name, err)
		}
	}
	// Who says less than it sends has sent a form that is cut off, and then something that is no
	// request.
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(env.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n%s",
		tenant.In(uploadPath), tenant.Operator, contentType, big)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 400 {
		t.Errorf("a length that is too small: got %v, %v", answer, err)
	} else {
		_ = answer.Body.Close()
	}
	leavesNothing(t, env)

	for range 4 { // the plan is full to its last byte, by equal files too
		post(exactType, exact).Must(t, 202)
	}
	one, oneType := form(t, part{name: "file", filename: "a.txt", mediaType: "text/plain", content: "x"})
	for what, got := range map[string]harness.Response{
		"a file":      post(oneType, one),
		"pasted text": env.Do(t, "POST", tenant.In("/knowledge-base/sources/inline"), `{"name":"n","content":"x"}`, harness.Key(tenant.Operator)),
	} {
		if got.Status != 402 || got.Code() != "quota-exceeded-kb-storage" {
			t.Errorf("%s of one byte: got %d %s", what, got.Status, got.Body)
		}
	}
	if files := env.Files(t); len(files) != 1 {
		t.Errorf("equal files are stored as %d", len(files))
	}
	listed := env.Do(t, "GET", tenant.In("/knowledge-base/sources"), nil, harness.Key(tenant.Read)).Must(t, 200)
	env.Do(t, "DELETE", tenant.In("/knowledge-base/sources/"+listed.Text("sources", 0, "id")), nil, harness.Key(tenant.Operator)).Must(t, 204)
	post(oneType, one).Must(t, 202)
	if used := env.Do(t, "GET", "/v1/workspaces/"+tenant.WorkspaceID, nil, harness.Key(tenant.Read)).Must(t,
		200).At("kb_used_bytes"); used != float64(3<<20+1) {
		t.Errorf("%v bytes are used", used)
	}
}

// TestQuotaAtTheEdge: fifty uploads of half a MiB at once into room for eight, over every protocol.
func TestQuotaAtTheEdge(t *testing.T) {
	t.Parallel()
	env, tenant := limited(t)
	protocols := harness.Protocols()
	var stored, refused atomic.Int32
	var uploads sync.WaitGroup
	for i := range 50 {
		content := bytes.Repeat(fmt.Appendf(nil, "file %03d ", i), 512<<10/9+1)[:512<<10]
		uploads.Go(func() {
			reason, err := "", error(nil)
			switch i % 3 {
			case 2:
				_, err = sendMessages(t, env, protocols[i%len(protocols)], tenant, "a.txt", bytes.NewReader(content))
				if reason = wireReason(err); reason == "" && err != nil {
					reason = err.Error()
				}
			default:
				body, contentType := form(t, part{name: "file", filename: "a.txt", content: string(content)})
				sent := any(body)
				if i%3 == 1 {
					sent = io.MultiReader(strings.NewReader(body))
				}
				got := env.Do(t, "POST", tenant.In(uploadPath), sent, harness.Key(tenant.Operator), harness.Header("Content-Type", contentType))
				if reason = got.Code(); got.Status != 202 && got.Status != 402 {
					reason = string(got.Body)
				}
			}
			switch reason {
			case "":
				stored.Add(1)
			case "quota-exceeded-kb-storage":
				refused.Add(1)
			default:
				t.Errorf("upload %d: %s", i, reason)
			}
		})
	}
	uploads.Wait()
	if stored.Load() != 8 || refused.Load() != 42 {
		t.Errorf("%d stored and %d refused, want 8 and 42", stored.Load(), refused.Load())
	}
	harness.Await(t, harness.Patience, "what was refused is put right", func() bool {
		return len(env.Files(t)) == 8 &&
			harness.Rows[int](t, env, "SELECT count(*) FROM stray_blobs")[0]+harness.Rows[int](t, env, "SELECT count(*) FROM upload_holds")[0] == 0
	})
	if used := harness.Rows[int](t, env, "SELECT kb_used_bytes FROM workspaces WHERE id = $1", tenant.WorkspaceID)[0]; used != 4<<20 {
		t.Errorf("%d bytes are used", used)
	}
}

// lines are so many bytes of text, other ones for another seed.
func lines(seed, size int) io.Reader {
	line := fmt.Sprintf("This is a line of the text number %04d, and there are many of it.\n", seed)
	return io.LimitReader(&repeatedText{text: strings.Repeat(line, 1000)}, int64(size))
}

type repeatedText struct {
	text string
	at   int
}

// Read implements io.Reader.
func (r *repeatedText) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// TestMemoryOfFiles: how much memory a server takes does not depend on the size of what goes
// through it.
func TestMemoryOfFiles(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutServer: true, WithoutWorker: true})
	server := env.StartProcess(t, "server")
	harness.Await(t, harness.Patience, "the server is ready", func() bool {
		answer, err := env.Send(t, "GET", "/readyz", nil)
		return err == nil && answer.Status == 200
	})
	const small, large = 1 << 20, 160 << 20
	seed := 0
	through := func(size int) {
		t.Helper()
		var ids []string
		head, tail := "--b\r\n"+wirePart(`name="file"; filename="a.txt"`, ""), "\r\n--b--\r\n"
		for _, known := range []bool{true, false} {
			seed++
			body := io.MultiReader(strings.NewReader(head), lines(seed, size), strings.NewReader(tail))
			got := env.Do(t, "POST", env.Tenant.In(uploadPath), body, harness.Header("Content-Type",
				"multipart/form-data; boundary=b"), func(r *http.Request) {
				if known {
					r.ContentLength = int64(len(head) + size + len(tail))
				}
			}).Must(t, 202)
			ids = append(ids, got.Text("id"))
		}
		for _, protocol := range harness.Protocols() {
			if protocol.Name != "GRPC" && protocol.Name != "ConnectProto" {
				continue
			}
			seed++
			source, err := sendMessages(t, env, protocol, env.Tenant, "a.txt", lines(seed, size))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, source.GetId())
			download, err := env.Clients(t, protocol, env.Tenant.Read).Knowledge.DownloadSource(t.Context(),
				&parlancev1.DownloadSourceRequest{WorkspaceId: env.Tenant.WorkspaceID, SourceId: source.GetId()})
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for download.Receive() {
				got += len(download.Msg().GetData())
			}
			if download.Err() != nil || got != size {
				t.Errorf("downloaded %d bytes over %s, %v", got, protocol.Name, download.Err())
			}
		}
		for _, id := range ids {
			request, err := env.NewRequest(t, "GET", env.Tenant.In("/knowledge-base/sources/"+id+"/content"), nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request.WithContext(context.WithoutCancel(t.Context())))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if err != nil || got != int64(size) {
				t.Errorf("downloaded %d bytes, %v", got, err)
			}
			env.Do(t, "DELETE", env.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 204)
		}
	}
	for range 4 { // what a process that has just begun takes beside the first files is not theirs
		through(small)
	}
	before := server.PeakMiB()
	through(large)
	after := server.PeakMiB()
	t.Logf("at most %d MiB resident with files of 1 MiB, %d MiB with files of 160 MiB", before, after)
	// The collector of a process that gets little of the processor is late, by some tens of MiB.
	if after-before > 96 {
		t.Errorf("files of 160 MiB take %d MiB more", after-before)
	}
}
