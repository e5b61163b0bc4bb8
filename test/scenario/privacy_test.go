package scenario

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/test/dump"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// The user and what only the user has said.
const (
	markedUser  = "user/marked?71 with Ümlaut"
	markedWords = "marmalade-heliotrope-48213"
)

// person is a user with something in every place where data about users are kept.
type person struct {
	*harness.Env
	t     *testing.T
	agent string
	// hook gets all events and repeats them in its answers; late never answers with success.
	hook, late         *receiver.Receiver
	hookID, lateID     string
	open, ended, other string
	socket             *websocket.Conn
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{t: t, hook: receiver.New(t), late: receiver.New(t)}
	shop := httptool.New(t)
	p.Env = harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_EGRESS_CA_FILE": p.hook.CAFile(t), "PARLANCE_WEBHOOK_SCHEDULE": "0s,1h",
	}})
	p.hook.Always(receiver.Answer{Body: "I got " + markedWords, Header: map[string]string{"X-Echo": markedWords}})
	p.late.Always(receiver.Answer{Status: 503, Body: markedWords})
	subscribe := func(hook *receiver.Receiver) string {
		made := p.Do(t, "POST", p.Tenant.In("/webhooks"), map[string]any{
			"url": hook.URL, "events": []string{"post_call_transcription", "fatigue.alert", "dsar.ready"},
		}).Must(t, 201)
		hook.Expect(made.Text("secret"))
		return made.Text("id")
	}
	p.hookID, p.lateID = subscribe(p.hook), subscribe(p.late)
	p.agent = p.Do(t, "POST", p.Tenant.In("/agents"), `{"name":"Ada","memory":{"enabled":true},
		"fatigue":[{"window":"24h","max_turns":1}]}`).Must(t, 201).Text("id")
	tool := p.Do(t, "POST", p.Tenant.In("/tools"), map[string]any{
		"slug": "echo", "description": "d", "kind": "http", "webhook_url": shop.URL + "/echo",
		"input_schema": map[string]any{"type": "object", "properties": map[string]any{"word": map[string]any{"type": "string"}}},
	}).Must(t, 201).Text("id")
	p.Do(t, "POST", p.Tenant.In("/agents/"+p.agent+"/tools/attach"), map[string]any{"tool_id": tool, "enabled": true}).Must(t, 200)
	return p
}

func (p *person) begin(user string) harness.Response {
	p.t.Helper()
	note := "nothing"
	if user == markedUser {
		note = markedWords
	}
	return p.Do(p.t, "POST", "/v1/sessions", map[string]any{
		"agent_id": p.agent, "user_id": user, "modality": "text",
		"dynamic_variables": map[string]string{"note": note, "secret__pin": note},
	}, withKey("session of "+hashOf(user))).Must(p.t, 201)
}

func (p *person) say(session, text string) {
	p.t.Helper()
	p.Do(p.t, "POST", "/v1/sessions/"+session+"/turns", map[string]any{"text": text}, withKey(session+hashOf(text))).Must(p.t, 200)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// live gives the user two conversations, one of which is over and one is open on a socket, and
// somebody else one.
func (p *person) live() {
	p.t.Helper()
	p.ended = p.begin(markedUser).Text("id")
	p.say(p.ended, "I prefer "+markedWords+".")
	p.say(p.ended, `/tool echo {"word":"`+markedWords+`"}`)
	p.Do(p.t, "POST", "/v1/sessions/"+p.ended+"/end", map[string]any{"status": "completed", "reason": markedWords}).Must(p.t, 200)
	made := p.Do(p.t, "POST", "/v1/sessions", map[string]any{"agent_id": p.agent, "user_id": markedUser, "modality": "text"}).Must(p.t, 201)
	p.open = made.Text("id")
	conn, _, err := websocket.Dial(p.t.Context(), made.Text("chat_url"), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.socket = conn
	conn.SetReadLimit(1 << 20)
	for _, event := range []string{
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"My hobby is ` +
			markedWords + `."}]}}`, `{"type":"response.create"}`,
	} {
		if err := conn.Write(p.t.Context(), websocket.MessageText, []byte(event)); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := p.read("response.done"); err != nil {
		p.t.Fatal(err)
	}
	harness.Await(p.t, harness.Patience, "the events are delivered, or have failed once", func() bool {
		return len(p.hook.Requests()) >= 2 && len(p.late.Requests()) >= 2
	})
	p.hook.Always(receiver.Answer{})
	p.late.Always(receiver.Answer{Status: 503})
	p.other = p.begin("somebody else").Text("id")
	p.say(p.other, "Hello, I am somebody else.")
}

// read reads frames until one of a type, or until the socket closes when the type is empty.
func (p *person) read(until string) error {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), harness.Patience)
	defer cancel()
	for {
		_, frame, err := p.socket.Read(ctx)
		if err != nil {
			return err
		}
		if until != "" && strings.Contains(string(frame), `"type":"`+until+`"`) {
			return nil
		}
	}
}

// request makes a privacy request and waits until it is done.
func (p *person) request(kind string) harness.Response {
	p.t.Helper()
	asked := p.Do(p.t, "POST", p.Tenant.In("/privacy/requests"), map[string]any{"user_id": markedUser, "kind": kind}).Must(p.t, 201)
	if want := p.URL + p.Tenant.In("/privacy/requests/"+asked.Text("id")); asked.Header.Get("Location") != want {
		p.t.Errorf("got Location %q, want %q", asked.Header.Get("Location"), want)
	}
	var done harness.Response
	harness.Await(p.t, harness.Patience, kind+" is done", func() bool {
		done = p.Do(p.t, "GET", p.Tenant.In("/privacy/requests/"+asked.Text("id")), nil).Must(p.t, 200)
		return done.Text("status") == "ready" || done.Text("status") == "failed"
	})
	if done.Text("status") != "ready" {
		p.t.Fatalf("%s: %s", kind, done.Body)
	}
	return done
}

// unzip checks an archive against its manifest and returns its files.
func (p *person) unzip(request harness.Response) map[string]string {
	p.t.Helper()
	link, err := url.Parse(request.Text("download_url"))
	if err != nil {
		p.t.Fatal(err)
	}
	got := p.Do(p.t, "GET", link.RequestURI(), nil, harness.Header("Authorization", "")).Must(p.t, 200)
	if sum := sha256.Sum256(got.Body); request.Text("sha256") != hex.EncodeToString(sum[:]) {
		p.t.Errorf("the file has the hash %x, the request says %s", sum, request.Text("sha256"))
	}
	archive, err := zip.NewReader(bytes.NewReader(got.Body), int64(len(got.Body)))
	if err != nil {
		p.t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		content, err := fs.ReadFile(archive, f.Name)
		if err != nil {
			p.t.Fatal(err)
		}
		files[f.Name] = string(content)
	}
	var manifest struct {
		Files []struct{ Path, SHA256 string }
	}
	if err := json.Unmarshal([]byte(files["manifest.json"]), &manifest); err != nil {
		p.t.Fatal(err)
	}
	for _, f := range manifest.Files {
		if sum := sha256.Sum256([]byte(files[f.Path])); f.SHA256 != hex.EncodeToString(sum[:]) {
			p.t.Errorf("%s has another hash than the manifest says", f.Path)
		}
		if strings.HasSuffix(f.Path, ".json") && !json.Valid([]byte(files[f.Path])) {
			p.t.Errorf("%s is not JSON: %s", f.Path, files[f.Path])
		}
	}
	if len(manifest.Files) != len(files)-1 {
		p.t.Errorf("the manifest has %d files, the archive %d", len(manifest.Files), len(files))
	}
	return files
}

// places are everything that is stored: the journal is beside the bucket.
func (p *person) places() map[string][]byte {
	p.t.Helper()
	places, err := dump.Files(filepath.Dir(p.BlobDir))
	if err != nil {
		p.t.Fatal(err)
	}
	places["Postgres"], places["Redis"] = dumpDatabase(p.t, p.Env), dumpRedis(p.t, p.Env)
	return places
}

// TestPrivacy exports everything about a user and erases it: nothing of it is left in Postgres,
// Redis, the bucket and the journal, and what is kept of somebody else is as it was.
func TestPrivacy(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.live()

	dry := p.Do(t, "POST", p.Tenant.In("/privacy/requests"), map[string]any{
		"user_id": markedUser, "kind": "erasure", "dry_run": true,
	}).Must(t, 201)
	if dry.Header.Get("Location")+dry.Text("id") != "" || dry.Text("status") != "ready" || dry.At("counts", "sessions") != 2.0 ||
		dry.At("counts", "turns") != 3.0 || dry.At("counts", "tool_calls") == 0.0 || dry.At("counts", "undelivered") == 0.0 {
		t.Errorf("the dry run: %s", dry.Body)
	}

	files := p.unzip(p.request("export"))
	for _, name := range []string{"sessions/" + p.ended + ".json", "sessions/" + p.open + ".json", "memory.json"} {
		if !strings.Contains(files[name], markedWords) {
			t.Errorf("%s lacks what was said: %s", name, files[name])
		}
	}
	if all := strings.Join(slices.Collect(maps.Values(files)), ""); strings.Contains(all, p.other) || strings.Contains(all, "secret__pin") {
		t.Error("the archive has what is not the user's")
	}
	harness.Await(t, harness.Patience, "dsar.ready", func() bool {
		return slices.ContainsFunc(p.hook.Requests(), func(r receiver.Request) bool { return r.Type == "dsar.ready" })
	})

	erased := p.request("erasure")
	if erased.Text("user_id") != "" || erased.At("certificate", "erased", "sessions") != 2.0 ||
		erased.At("certificate", "erased", "exports") != 1.0 {
		t.Errorf("the tombstone: %s", erased.Body)
	}
	about := p.Do(t, "GET", p.Tenant.In("/privacy/requests?kind=erasure&user_id="+url.QueryEscape(markedUser)), nil).Must(t, 200)
	if erased.Text("user_hash") == "" || len(about.List("requests")) != 1 || about.Text("requests", 0, "id") != erased.Text("id") {
		t.Errorf("the requests about a user that was erased: %s", about.Body)
	}
	remaining, _ := erased.At("certificate", "remaining").(map[string]any)
	for name, n := range remaining {
		if n != 0.0 {
			t.Errorf("%s of the user are left: %v", name, n)
		}
	}
	if err := p.read(""); websocket.CloseStatus(err) == -1 {
		t.Errorf("the socket ended with %v, want a close frame", err)
	}
	search(t, []canary{{name: "the user's id", secret: markedUser}, {name: "what the user said", secret: markedWords}}, p.places())

	for _, path := range []string{"/v1/sessions/" + p.ended, "/v1/sessions/" + p.ended + "/transcript", "/v1/sessions/" + p.open} {
		if got := p.Do(t, "GET", path, nil); got.Status != 404 {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
	if got := p.Do(t, "GET", p.Tenant.In("/users/"+url.PathEscape(markedUser)+"/memory"), nil).Must(t, 200); len(got.List("memories")) != 0 {
		t.Errorf("memories are left: %s", got.Body)
	}
	p.somebodyElse()
	p.deliveries()

	again := p.request("export")
	if files := p.unzip(again); len(files) != 11 || again.At("counts", "sessions") != 0.0 {
		t.Errorf("the export after the erasure has %v: %s", slices.Collect(maps.Keys(files)), again.Body)
	}
}

// somebodyElse fails when what is kept of another user was touched.
func (p *person) somebodyElse() {
	p.t.Helper()
	transcript := p.Do(p.t, "GET", "/v1/sessions/"+p.other+"/transcript", nil).Must(p.t, 200)
	if !strings.Contains(string(transcript.Body), "I am somebody else") {
		p.t.Errorf("another user's transcript: %s", transcript.Body)
	}
	if repeated := p.begin("somebody else"); repeated.Text("id") != p.other || repeated.Header.Get(replayed) != "true" {
		p.t.Errorf("another user's kept answer: %s", repeated.Body)
	}
}

// deliveries fails unless what was not delivered is recorded as erased, is not sent again, and the
// feed can be read.
func (p *person) deliveries() {
	p.t.Helper()
	list := p.Do(p.t, "GET", p.Tenant.In("/webhooks/"+p.lateID+"/deliveries"), nil).Must(p.t, 200)
	dropped := 0
	for _, delivery := range list.List("deliveries") {
		if text, _ := harness.Path(delivery, "error").(string); strings.Contains(text, "erased") {
			dropped++
			id, _ := harness.Path(delivery, "id").(string)
			again := p.Do(p.t, "POST", p.Tenant.In("/webhooks/"+p.lateID+"/deliveries/"+id+"/redeliver"), nil)
			if again.Status != 409 {
				p.t.Errorf("an erased event is sent again: %d %s", again.Status, again.Body)
			}
		}
	}
	if dropped == 0 {
		p.t.Errorf("no delivery is recorded as erased: %s", list.Body)
	}
	feed := p.Do(p.t, "GET", p.Tenant.In("/events"), nil).Must(p.t, 200)
	for _, event := range feed.List("events") {
		if data, _ := harness.Path(event, "data").(map[string]any); data["user_id"] != "somebody else" && data["erased"] != true {
			p.t.Errorf("the feed has %v", event)
		}
	}
}

// TestDeleteSession deletes one session by itself: another of the same user stays.
func TestDeleteSession(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.live()
	p.Do(t, "DELETE", "/v1/sessions/"+p.open, nil, harness.Key(p.Tenant.Runtime)).Must(t, 403)
	p.Do(t, "DELETE", "/v1/sessions/"+p.open, nil).Must(t, 204)
	p.Do(t, "DELETE", "/v1/sessions/"+p.open, nil).Must(t, 204)
	p.Do(t, "GET", "/v1/sessions/"+p.open, nil).Must(t, 404)
	p.Do(t, "DELETE", "/v1/sessions/ses_01jgk2m0q5example0000000ab", nil).Must(t, 404)
	p.Do(t, "GET", "/v1/sessions/"+p.ended+"/transcript", nil).Must(t, 200)
	if n := harness.Rows[int](t, p.Env, "SELECT count(*)::int FROM turns WHERE session_id = $1", p.open); n[0] != 0 {
		t.Errorf("%d turns are left", n[0])
	}
	if err := p.read(""); websocket.CloseStatus(err) == -1 {
		t.Errorf("the socket ended with %v, want a close frame", err)
	}
	for _, got := range p.hook.Requests() {
		if strings.Contains(string(got.Body), p.open) && got.Type == "post_call_transcription" {
			t.Error("the end of a session that was deleted is announced")
		}
	}
}

// TestExportLinks: a link is good only as it was made, until its user is erased; it names no user,
// and a key that may not ask for exports does not get it.
func TestExportLinks(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.live()
	done := p.request("export")
	link, err := url.Parse(done.Text("download_url"))
	if err != nil {
		t.Fatal(err)
	}
	got := p.Do(t, "GET", p.Tenant.In("/privacy/requests/"+done.Text("id")), nil, harness.Key(p.Tenant.Read)).Must(t, 200)
	if got.Text("download_url") != "" || got.Text("status") != "ready" {
		t.Errorf("a key that may only read gets %s", got.Body)
	}
	harness.Await(t, harness.Patience, "the event in the feed", func() bool {
		feed := p.Do(t, "GET", p.Tenant.In("/events"), nil).Must(t, 200)
		return strings.Contains(string(feed.Body), link.RawQuery[:20])
	})
	for _, path := range []string{"/events", "/webhooks/" + p.hookID + "/deliveries"} {
		got := p.Do(t, "GET", p.Tenant.In(path), nil, harness.Key(p.Tenant.Read)).Must(t, 200)
		if strings.Contains(string(got.Body), "signature=") {
			t.Errorf("a key that may only read gets the link from %s", path)
		}
	}
	query := link.Query()
	for name, change := range map[string]func(url.Values){
		"no signature": func(q url.Values) { q.Del("signature") },
		"later":        func(q url.Values) { q.Set("expires", q.Get("expires")+"0") },
		"no expiry":    func(q url.Values) { q.Del("expires") },
	} {
		changed := maps.Clone(query)
		change(changed)
		if got := p.Do(t, "GET", link.Path+"?"+changed.Encode(), nil); got.Status != 404 {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	stranger := p.NewTenant(t, "")
	p.Do(t, "GET", "/v1/workspaces/"+stranger.WorkspaceID+"/privacy/requests/"+done.Text("id"), nil, harness.Key(stranger.Admin)).Must(t, 404)
	p.request("erasure")
	if got := p.Do(t, "GET", link.RequestURI(), nil); got.Status != 404 {
		t.Errorf("the file of an erased user: %d", got.Status)
	}
	for path := range p.places() {
		if strings.HasSuffix(path, ".zip") {
			t.Errorf("%s is left", path)
		}
	}
}

// TestExportWhileTalking: an export shows one moment, also when its user talks all the time.
func TestExportWhileTalking(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	p := &person{Env: env, t: t, agent: env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")}
	session := p.begin(markedUser).Text("id")
	stop, talking := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(talking)
		for {
			select {
			case <-stop:
				return
			default:
				got, err := env.Send(t, "POST", "/v1/sessions/"+session+"/turns", map[string]any{"text": "Hello."})
				if err != nil || got.Status != 200 {
					t.Errorf("a turn during an export: %v %s", err, got.Body)
					return
				}
			}
		}
	}()
	for range 5 {
		request := p.request("export")
		var file struct {
			Session struct {
				TurnCount int `json:"turn_count"`
			}
			Turns []struct{ Status string }
		}
		if err := json.Unmarshal([]byte(p.unzip(request)["sessions/"+session+".json"]), &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Turns) != file.Session.TurnCount || request.At("counts", "turns") != float64(len(file.Turns)) {
			t.Errorf("the session has %d turns, its row says %d, the request %v", len(file.Turns), file.Session.TurnCount,
				request.At("counts", "turns"))
		}
	}
	close(stop)
	<-talking
}

// TestErasureIsTakenOver: an erasure whose worker has died is done by another one.
func TestErasureIsTakenOver(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	p := &person{Env: env, t: t, agent: env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")}
	session := p.begin(markedUser).Text("id")
	p.say(session, "Hello.")
	asked := env.Do(t, "POST", env.Tenant.In("/privacy/requests"), map[string]any{"user_id": markedUser, "kind": "erasure"}).Must(t, 201)
	// As a worker leaves it that was killed a minute ago; its event was relayed.
	env.Exec(t, "UPDATE privacy_requests SET status = 'processing', attempts = 1, started_at = now(), due_at = now()")
	env.Exec(t, "DELETE FROM events WHERE type = '_privacy.requested'")
	env.StartProcess(t, "worker")
	harness.Await(t, harness.Patience, "another worker erases", func() bool {
		return env.Do(t, "GET", env.Tenant.In("/privacy/requests/"+asked.Text("id")), nil).Must(t, 200).Text("status") == "ready"
	})
	env.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 404)
}

// TestLateTrace: a tool that answers after its session was deleted leaves no trace.
func TestLateTrace(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	shop, answer := httptool.New(t), make(chan struct{})
	shop.Script("/slow", httptool.Step{Body: markedWords, Until: answer})
	p := &person{Env: env, t: t, agent: env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")}
	tool := env.Do(t, "POST", env.Tenant.In("/tools"), map[string]any{
		"slug": "slow", "description": "d", "kind": "http", "webhook_url": shop.URL + "/slow",
	}).Must(t, 201).Text("id")
	env.Do(t, "POST", env.Tenant.In("/agents/"+p.agent+"/tools/attach"), map[string]any{"tool_id": tool, "enabled": true}).Must(t, 200)
	session := p.begin("somebody").Text("id")
	turned := make(chan struct{})
	go func() {
		defer close(turned)
		_, _ = env.Send(t, "POST", "/v1/sessions/"+session+"/turns", map[string]any{"text": `/tool slow {}`}) // it is refused or ends
	}()
	harness.Await(t, harness.Patience, "the call is under way", func() bool { return len(shop.Requests("/slow")) == 1 })
	env.Do(t, "DELETE", "/v1/sessions/"+session, nil).Must(t, 204)
	close(answer)
	<-turned
	env.Stop() // what runs has ended then
	if n := harness.Rows[int](t, env, "SELECT count(*)::int FROM tool_calls WHERE session_id = $1", session); n[0] != 0 {
		t.Errorf("%d traces are left", n[0])
	}
}

// TestSameRequestTwice: an erasure that is asked for twice is one, whose certificate says what was
// erased.
func TestSameRequestTwice(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	ask := func(kind string) string {
		return env.Do(t, "POST", env.Tenant.In("/privacy/requests"), map[string]any{"user_id": "ada", "kind": kind}).Must(t, 201).Text("id")
	}
	erasure, export := ask("erasure"), ask("export")
	if ask("erasure") != erasure || ask("export") != export || erasure == export {
		t.Error("the same request is made twice")
	}
	env.Exec(t, "UPDATE privacy_requests SET status = 'processing', started_at = now()")
	if ask("erasure") != erasure || ask("export") == export {
		t.Error("an erasure under way is made twice, or an export that has begun is given for a new one")
	}
}
