package scenario

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/workspaces"
)

// recording is what a server stores of a voice socket: it begins one for a session, adds sound of
// both sides and a mark, and ends it.
func recording(t *testing.T, env *harness.Env, tenant harness.Tenant, session, item string, ms int) {
	t.Helper()
	p := workspaces.Principal{TenantID: workspaces.TenantID(tenant.ID), Scope: workspaces.ScopeRead}
	found, err := env.App.Sessions.Get(t.Context(), p, sessions.ID(session))
	if err != nil {
		t.Fatal(err)
	}
	r := env.App.Recordings.Start(found)
	if r == nil {
		t.Fatalf("%s is not recorded", session)
	}
	user, agent := make([]int16, 16*ms), make([]int16, 16*ms)
	for i := range user {
		user[i], agent[i] = int16(i%1000+1), -int16(i%1000+1)
	}
	r.Agent(0, agent)
	r.User(0, user)
	r.Mark(recordings.Mark{ItemID: item, FromChar: 3, ToChar: 8, FromMS: 100, ToMS: 700, Channel: recordings.Agent})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// recordingFiles lists the files of recordings in the bucket.
func recordingFiles(t *testing.T, env *harness.Env) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(env.BlobDir, "recordings", "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRecordings: an agent that records has the sound of its voice sessions in their view, as a
// file, with the times of what was said, over every protocol, and for nobody else.
func TestRecordings(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	const voice = `{"recording":{"enabled":true,"notice":"This call is recorded."}}`
	made := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","voice":`+voice+`}`).Must(t, 201)
	if made.Text("voice", "recording", "notice") != "This call is recorded." || made.At("voice", "recording", "enabled") != true {
		t.Errorf("the agent: %s", made.Body)
	}
	refused := env.Do(t, "PATCH", env.Tenant.In("/agents/"+made.Text("id")), `{"privacy":{"redact":["card"]}}`).Must(t, 400)
	if !slices.Contains(refused.Problem.Fields(), "voice.recording.enabled") {
		t.Errorf("redaction beside recordings: %s", refused.Body)
	}
	started := env.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": made.Text("id"), "user_id": "u"}).Must(t, 201)
	id := started.Text("id")
	path := "/v1/sessions/" + id
	if none := env.Do(t, "GET", path, nil).Must(t, 200); none.Text("recording", "status") != "none" || none.Text("recording", "url") != "" {
		t.Errorf("before it begins: %s", none.Body)
	}
	for _, part := range []string{"/recording", "/recording/marks"} {
		if none := env.Do(t, "GET", path+part, nil).Must(t, 404); none.Code() != "not-found" {
			t.Errorf("before it begins: %s", none.Body)
		}
	}
	env.Do(t, "POST", path+"/turns", `{"text":"Hello."}`).Must(t, 200) // starts the session
	recording(t, env, env.Tenant, id, "item_1", 21_000)
	recording(t, env, env.Tenant, id, "item_2", 4000)
	if open := env.Do(t, "GET", path, nil).Must(t, 200); open.Text("recording", "status") != "recording" {
		t.Errorf("while the session is open: %s", open.Body)
	}
	env.Do(t, "POST", path+"/end", `{"status":"completed"}`).Must(t, 200)

	const size = 44 + 25_000*16*4
	view := env.Do(t, "GET", path, nil).Must(t, 200)
	if view.Text("recording", "status") != "ready" || view.At("recording", "duration_ms") != 25_000.0 ||
		view.At("recording", "size_bytes") != float64(size) || view.Text("recording", "url") != env.URL+path+"/recording" ||
		view.At("recording", "parts", 1, "from_ms") != 21_000.0 || view.At("recording", "parts", 1, "duration_ms") != 4000.0 {
		t.Errorf("the view: %s", view.Body)
	}
	file := env.Do(t, "GET", path+"/recording", nil, harness.Key(env.Tenant.Read)).Must(t, 200)
	if file.Header.Get("Content-Type") != "audio/wav" || file.Header.Get("Content-Length") != strconv.Itoa(size) || len(file.Body) != size ||
		!strings.Contains(file.Header.Get("Content-Disposition"), id+".wav") || file.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("the file: %d bytes, %v", len(file.Body), file.Header)
	}
	for at, want := range map[int]int16{0: 1, 999: 1000, 21_000 * 16: 1, 21_000*16 + 5: 6} {
		left, right := int16(binary.LittleEndian.Uint16(file.Body[44+4*at:])), int16(binary.LittleEndian.Uint16(file.Body[46+4*at:]))
		if left != want || right != -want {
			t.Errorf("frame %d is %d, %d, want %d, %d", at, left, right, want, -want)
		}
	}
	piece := env.Do(t, "GET", path+"/recording", nil, harness.Header("Range", "bytes=1280040-1280049")).Must(t, 206)
	if !bytes.Equal(piece.Body, file.Body[1280040:1280050]) {
		t.Errorf("a range: %v", piece.Body)
	}
	if head := env.Do(t, "HEAD", path+"/recording", nil).Must(t, 200); head.Header.Get("Content-Length") != strconv.Itoa(size) {
		t.Errorf("HEAD: %v", head.Header)
	}
	marks := env.Do(t, "GET", path+"/recording/marks?from_ms=1000", nil).Must(t, 200)
	if len(marks.List("marks")) != 1 || marks.Text("marks", 0, "item_id") != "item_2" || marks.At("marks", 0, "from_ms") != 21_100.0 ||
		marks.Text("marks", 0, "role") != "agent" || marks.At("marks", 0, "to_char") != 8.0 {
		t.Errorf("the marks: %s", marks.Body)
	}
	for _, protocol := range harness.Protocols() {
		stream, err := env.Clients(t, protocol, env.Tenant.Read).Sessions.DownloadRecording(t.Context(),
			&parlancev1.DownloadRecordingRequest{SessionId: id})
		if err != nil {
			t.Fatal(err)
		}
		var content []byte
		for stream.Receive() {
			content = append(content, stream.Msg().GetData()...)
		}
		if stream.Err() != nil || !bytes.Equal(content, file.Body) {
			t.Errorf("%s: %d bytes: %v", protocol.Name, len(content), stream.Err())
		}
	}
	stranger := env.NewTenant(t, "")
	for _, part := range []string{"/recording", "/recording/marks"} {
		env.Do(t, "GET", path+part, nil, harness.Key(stranger.Admin)).Must(t, 404)
		if own := env.Do(t, "GET", path+part, nil, harness.Key(started.Text("token"))); own.Status != 401 && own.Status != 403 {
			t.Errorf("%s answers the session's token with %d", part, own.Status)
		}
	}
	log := env.Do(t, "GET", "/v1/audit-log", nil, harness.Key(env.Tenant.Admin)).Must(t, 200)
	if !strings.Contains(string(log.Body), `"recording.download"`) {
		t.Errorf("downloads are not in the audit log: %s", log.Body)
	}
	announced := harness.Rows[string](t, env, `
		SELECT convert_from(body, 'UTF8') FROM events WHERE type = 'post_call_transcription' AND session_id = $1`, id)
	if len(announced) != 1 || !strings.Contains(strings.ReplaceAll(announced[0], " ", ""), `"has_audio":true`) {
		t.Errorf("the event: %v", announced)
	}
	if _, err := os.Stat(recordingFiles(t, env)[0]); err != nil {
		t.Error(err)
	}
	env.Do(t, "DELETE", path, nil).Must(t, 204)
	if left := recordingFiles(t, env); len(left) != 0 {
		t.Errorf("the session was deleted, and %v are left", left)
	}
}

// TestRecordingOfAUser: an export has the recordings of its user, and an erasure leaves none.
func TestRecordingOfAUser(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.Do(t, "PATCH", p.Tenant.In("/agents/"+p.agent), `{"voice":{"recording":{"enabled":true}}}`).Must(t, 200)
	call := func(user string) string {
		id := p.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": p.agent, "user_id": user}).Must(t, 201).Text("id")
		recording(t, p.Env, p.Tenant, id, markedWords, 1000)
		return id
	}
	session, other := call(markedUser), call("somebody else")
	whole := string(p.Do(t, "GET", "/v1/sessions/"+session+"/recording", nil).Must(t, 200).Body)

	exported := p.request("export")
	files := p.unzip(exported)
	if exported.At("counts", "recordings") != 1.0 || files["sessions/"+session+".wav"] != whole {
		t.Errorf("the export has %d bytes of sound, want %d: %s", len(files["sessions/"+session+".wav"]), len(whole), exported.Body)
	}
	if !strings.Contains(files["sessions/"+session+".json"], markedWords) || files["sessions/"+other+".wav"] != "" {
		t.Errorf("the session's file: %s", files["sessions/"+session+".json"])
	}

	erased := p.request("erasure")
	if erased.At("certificate", "erased", "recordings") != 1.0 || erased.At("certificate", "remaining", "recordings") != 0.0 {
		t.Errorf("the certificate: %s", erased.Body)
	}
	if left := recordingFiles(t, p.Env); len(left) != 1 || !strings.Contains(left[0], other) {
		t.Errorf("left are %v", left)
	}
	if n := harness.Rows[int](t, p.Env, "SELECT count(*)::int FROM recording_segments WHERE session_id <> $1", other); n[0] != 0 {
		t.Errorf("%d rows are left", n[0])
	}
	p.Do(t, "GET", "/v1/sessions/"+other+"/recording", nil).Must(t, 200)
}
