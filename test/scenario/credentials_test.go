package scenario

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/anthropicmessages"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// Keys that must be where they belong and nowhere else.
const (
	installationKey = "sk-installation-00000000000000"
	ownKey          = "sk-workspace-of-its-own-1111111"
	ownAnthropicKey = "sk-ant-workspace-2222222222222"
)

// keyed is an installation with a model server of its own, whose tenant has two workspaces.
type keyed struct {
	*harness.Env
	installed *openaichat.Server
	// otherWorkspace is the tenant's other workspace.
	otherWorkspace string
}

func newKeyed(t *testing.T) *keyed {
	t.Helper()
	k := &keyed{installed: openaichat.NewWithKey(t, installationKey)}
	k.Env = harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": k.installed.BaseURL, "PARLANCE_MODEL_API_KEY": installationKey, "PARLANCE_MODEL_NAME": "installed-model",
	}})
	k.otherWorkspace = k.Do(t, "POST", "/v1/workspaces", `{"name":"spare"}`).Must(t, 201).Text("id")
	return k
}

// session makes an agent in a workspace, and a session of it.
func (k *keyed) session(t *testing.T, workspace, model string, with ...harness.With) string {
	t.Helper()
	agent := k.Do(t, "POST", "/v1/workspaces/"+workspace+"/agents", `{"name":"Ada","model":`+model+`}`, with...).Must(t, 201).Text("id")
	return k.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`, with...).Must(t, 201).Text("id")
}

func (k *keyed) turn(t *testing.T, session string, with ...harness.With) harness.Response {
	t.Helper()
	return k.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello?"}`, with...)
}

// TestOwnModelKey gives a workspace a key of its own: it goes to the server it was given for, and
// nobody else's does; a change or deletion counts from the next turn on.
func TestOwnModelKey(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	own := openaichat.NewWithKey(t, ownKey)
	stranger := k.NewTenant(t, "enterprise")
	here := k.session(t, k.Tenant.WorkspaceID, `{}`)
	beside := k.session(t, k.otherWorkspace, `{}`)
	elsewhere := k.session(t, stranger.WorkspaceID, `{}`, harness.Key(stranger.Admin))
	k.turn(t, here).Must(t, 200)
	if n := len(k.installed.Requests()); n != 1 {
		t.Fatalf("the installation's model was asked %d times, want 1", n)
	}

	path := k.Tenant.In("/provider-credentials")
	made := k.Do(t, "POST", path,
		`{"kind":"model","provider":"openai","name":"ours","base_url":"`+own.BaseURL+`","api_key":"`+ownKey+
			`","default_model":"own-model"}`).Must(t, 201)
	id := made.Text("id")
	if made.At("api_key_set") != true || made.Text("api_key_hint") != "1111" || !strings.HasSuffix(made.Header.Get("Location"), path+"/"+id) {
		t.Errorf("created: %s, Location %s", made.Body, made.Header.Get("Location"))
	}
	answer := k.turn(t, here).Must(t, 200)
	k.turn(t, beside).Must(t, 200)
	k.turn(t, elsewhere, harness.Key(stranger.Admin)).Must(t, 200)
	if got := own.Requests(); len(got) != 1 || got[0].Model != "own-model" || got[0].Header.Get("Authorization") != "Bearer "+ownKey {
		t.Errorf("the workspace's server got %+v", got)
	}
	for _, request := range k.installed.Requests() {
		if request.Header.Get("Authorization") != "Bearer "+installationKey || request.Model != "installed-model" {
			t.Errorf("the installation's server got %s %v", request.Model, request.Header)
		}
	}
	if n := len(k.installed.Requests()); n != 3 {
		t.Errorf("the installation's model was asked %d times, want 3", n)
	}

	wrong := k.Do(t, "PATCH", path+"/"+id, `{"api_key":"sk-wrong-3333333333333333333"}`).Must(t, 200)
	refused := k.turn(t, here)
	checkProblem(t, refused, 502, "upstream-failed")
	if !strings.Contains(refused.Problem.Detail, id) || !strings.Contains(refused.Problem.Detail, "refused the API key") {
		t.Errorf("whose key failed is not said: %s", refused.Body)
	}
	k.toEndUsers(t, id)
	tried := k.Do(t, "POST", path+"/"+id+"/test", `{}`).Must(t, 200)
	if tried.At("ok") != false || !strings.Contains(tried.Text("detail"), "refused the API key") {
		t.Errorf("a test with a wrong key: %s", tried.Body)
	}
	k.Do(t, "PATCH", path+"/"+id, `{"api_key":"`+ownKey+`"}`).Must(t, 200)
	works := k.Do(t, "POST", path+"/"+id+"/test", `{}`).Must(t, 200)
	if works.At("ok") != true || works.Text("model") != "own-model" {
		t.Errorf("a test with the right key: %s", works.Body)
	}
	listed := k.Do(t, "GET", path, nil).Must(t, 200)
	k.Do(t, "DELETE", path+"/"+id, nil).Must(t, 204)
	before := len(own.Requests())
	k.turn(t, here).Must(t, 200)
	if len(own.Requests()) != before || len(k.installed.Requests()) != 4 {
		t.Error("a deleted credential is used")
	}
	shownNowhere(t, made, answer, wrong, refused, tried, works, listed)
	k.nowhere(t, ownKey)
}

// toEndUsers checks that end users hear nothing of the credential or the server when a turn fails.
func (k *keyed) toEndUsers(t *testing.T, id string) {
	t.Helper()
	agent := k.Do(t, "POST", k.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	made := k.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
	session, token := made.Text("id"), harness.Key(made.Text("token"))
	said := k.turn(t, session, token)
	checkProblem(t, said, 502, "upstream-failed")
	streamed := k.turn(t, session, token, harness.Header("Accept", "text/event-stream"))
	own := k.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200)
	read := k.Do(t, "GET", "/v1/sessions/"+session+"/turns/"+own.Text("turns", 0, "id"), nil, token)
	for _, answer := range []harness.Response{said, streamed, read} {
		if !bytes.Contains(answer.Body, []byte("The model could not answer.")) || bytes.Contains(answer.Body, []byte(id)) ||
			bytes.Contains(answer.Body, []byte("openai")) {
			t.Errorf("an end user gets %s", answer.Body)
		}
	}
	if !bytes.Contains(own.Body, []byte(id)) {
		t.Errorf("the operator is not told whose key failed: %s", own.Body)
	}
}

// shownNowhere looks for keys in answers.
func shownNowhere(t *testing.T, answers ...harness.Response) {
	t.Helper()
	for _, seen := range answers {
		for _, key := range []string{installationKey, ownKey, "sk-wrong"} {
			if bytes.Contains(seen.Body, []byte(key)) {
				t.Errorf("an answer shows a key: %s", seen.Body)
			}
		}
	}
}

// nowhere looks for a key in every row of every table.
func (k *keyed) nowhere(t *testing.T, key string) {
	t.Helper()
	for table := range k.Counts(t) {
		if n := harness.Rows[int](t, k.Env, `SELECT count(*) FROM "`+table+`" AS r WHERE strpos(r::text, $1) > 0`, key)[0]; n > 0 {
			t.Errorf("%s holds the key", table)
		}
	}
}

// TestOwnAnthropicKey lets an agent name a provider that the installation does not have.
func TestOwnAnthropicKey(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	own := anthropicmessages.New(t, ownAnthropicKey)
	session := k.session(t, k.Tenant.WorkspaceID, `{"provider":"anthropic","name":"claude-of-ours"}`)
	fallback := k.session(t, k.Tenant.WorkspaceID, `{"provider":"anthropic","fallbacks":[{"provider":"openai"}]}`)
	checkProblem(t, k.turn(t, session), 502, "upstream-failed")
	path := k.Tenant.In("/provider-credentials")
	made := k.Do(t, "POST", path,
		`{"kind":"model","provider":"anthropic","base_url":"`+own.BaseURL+`","api_key":"`+ownAnthropicKey+`"}`).Must(t, 201)
	k.turn(t, session).Must(t, 200)
	if got := own.Requests(); len(got) != 1 || got[0].Model != "claude-of-ours" || got[0].Header.Get("X-Api-Key") != ownAnthropicKey {
		t.Errorf("got %+v", got)
	}
	// A fallback is asked with the installation's key, since the workspace has none for it.
	k.Do(t, "PATCH", path+"/"+made.Text("id"), `{"api_key":"sk-ant-revoked-4444444444"}`).Must(t, 200)
	k.turn(t, fallback).Must(t, 200)
	if got := k.installed.Requests(); len(got) != 1 || got[0].Header.Get("X-Api-Key") != "" {
		t.Errorf("the fallback got %+v", got)
	}
	k.nowhere(t, ownAnthropicKey)
}

// TestOwnAzure: a workspace's deployment, given as its target URI, is asked with the workspace's
// key; a missing deployment is reported, and the agent's fallback answers.
func TestOwnAzure(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	own := openaichat.NewAzure(t, ownKey, "chat-of-ours")
	target := own.BaseURL + "/openai/deployments/chat-of-ours/chat/completions?api-version=2025-01-01-preview"
	path := k.Tenant.In("/provider-credentials")
	made := k.Do(t, "POST", path, map[string]string{"kind": "model", "provider": "azure", "base_url": target, "api_key": ownKey}).Must(t, 201)
	k.turn(t, k.session(t, k.Tenant.WorkspaceID, `{"provider":"azure"}`)).Must(t, 200)
	k.turn(t, k.session(t, k.Tenant.WorkspaceID, `{"provider":"azure","name":"chat-of-ours"}`)).Must(t, 200)
	if got := own.Requests(); len(got) != 2 || got[0].Model != "chat-of-ours" || got[0].Header.Get("Api-Key") != ownKey {
		t.Errorf("got %+v", got)
	}
	other := k.turn(t, k.session(t, k.Tenant.WorkspaceID, `{"provider":"azure","name":"chat-of-theirs"}`))
	checkProblem(t, other, 502, "upstream-failed")
	if !strings.Contains(other.Problem.Detail, "no such deployment") || !strings.Contains(other.Problem.Detail, made.Text("id")) {
		t.Errorf("got %s", other.Body)
	}
	k.turn(t, k.session(t, k.Tenant.WorkspaceID,
		`{"provider":"azure","name":"chat-of-theirs","fallbacks":[{"provider":"anthropic"},{"provider":"openai"}]}`)).Must(t, 200)
	if n := len(k.installed.Requests()); n != 1 {
		t.Errorf("the fallback was asked %d times", n)
	}
	if tried := k.Do(t, "POST", path+"/"+made.Text("id")+"/test", `{}`).Must(t, 200); tried.At("ok") != true ||
		tried.Text("model") != "chat-of-ours" {
		t.Errorf("a test: %s", tried.Body)
	}
	shownNowhere(t, made, other)
	k.nowhere(t, ownKey)
}

// TestInstalledAzure: the operator's resource answers agents that name no provider, and one that
// fails in a row is left alone.
func TestInstalledAzure(t *testing.T) {
	t.Parallel()
	installed := openaichat.NewAzure(t, installationKey, "chat")
	k := &keyed{Env: harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_AZURE_BASE_URL": installed.BaseURL, "PARLANCE_AZURE_API_KEY": installationKey, "PARLANCE_AZURE_DEPLOYMENT": "chat",
	}})}
	session := k.session(t, k.Tenant.WorkspaceID, `{"fallbacks":[{"provider":"extractive"}]}`)
	answered := func(model string) {
		t.Helper()
		if got := k.turn(t, session).Must(t, 200).Text("usage", "model"); got != model {
			t.Errorf("%q answered, want %q", got, model)
		}
	}
	answered("chat")
	for range 5 {
		installed.Add(openaichat.Reply{Status: 500})
	}
	for range 6 {
		answered("extractive")
	}
	if n := len(installed.Requests()); n != 6 {
		t.Errorf("asked %d times, want 6: five failures in a row open the circuit", n)
	}
	alone := k.turn(t, k.session(t, k.Tenant.WorkspaceID, `{}`))
	checkProblem(t, alone, 502, "upstream-failed")
	if !strings.Contains(alone.Problem.Detail, "try again in") {
		t.Errorf("when to try again is not said: %s", alone.Body)
	}
}

// TestCredentialRules are the refusals.
func TestCredentialRules(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{Guarded: true, WithoutWorker: true})
	path := env.Tenant.In("/provider-credentials")
	create := func(base string) harness.Response {
		return env.Do(t, "POST", path, map[string]string{"kind": "model", "provider": "openai", "api_key": ownKey, "base_url": base})
	}
	for _, base := range []string{
		"http://api.example.com/v1", "https://127.0.0.1/v1", "https://localhost/v1", "https://169.254.169.254/latest",
		"https://[::1]/v1", "https://[fd00:ec2::254]/",
		"https://2130706433/", "https://0x7f.1/", "https://user@api.example.com/", "https://api.example.com/v1?key=1",
		"https://api.example.com/#x", "ftp://api.example.com/",
		"https://api.example.com:0/", "https://", "api.example.com", "https://api.exam ple.com/",
	} {
		refused := create(base)
		checkProblem(t, refused, 400, "invalid-request")
		if !slices.Contains(refused.Problem.Fields(), "base_url") {
			t.Errorf("%s: %s", base, refused.Body)
		}
	}
	for body, field := range map[string]string{
		`{"kind":"embedding","provider":"openai","api_key":"k"}`:                   "kind",
		`{"kind":"model","provider":"twilio","api_key":"k"}`:                       "provider",
		`{"kind":"telephony","provider":"twilio","api_key":"k"}`:                   "account_id",
		`{"kind":"model","provider":"openai"}`:                                     "api_key",
		`{"kind":"model","provider":"openai","api_key":"two words"}`:               "api_key",
		`{"kind":"model","provider":"openai","api_key":"a\r\nX-Injected: header"}`: "api_key",
	} {
		refused := env.Do(t, "POST", path, body)
		checkProblem(t, refused, 400, "invalid-request")
		if !slices.Contains(refused.Problem.Fields(), field) {
			t.Errorf("%s: %s", body, refused.Body)
		}
	}
	for base, ok := range map[string]bool{
		"": false, "https://ours.openai.azure.com/?code=1": false,
		"https://ours.openai.azure.com/openai/assistants": false, "https://127.0.0.1/openai/v1": false,
		"https://ours.openai.azure.com/openai/deployments/chat/chat/completions?api-version=2024-10-21": true,
	} {
		answer := env.Do(t, "POST", path, map[string]string{"kind": "model", "provider": "azure", "api_key": ownKey, "base_url": base})
		if ok {
			answer.Must(t, 201)
			continue
		}
		checkProblem(t, answer, 400, "invalid-request")
		if !slices.Contains(answer.Problem.Fields(), "base_url") {
			t.Errorf("%s: %s", base, answer.Body)
		}
	}
	made := create("https://api.example.com/v1").Must(t, 201)
	checkProblem(t, create(""), 409, "name-taken")
	one := path + "/" + made.Text("id")
	for _, body := range []string{
		`{"base_url":"https://collector.example.net/v1"}`, `{"base_url":null}`,
		`{"base_url":"https://127.0.0.1/","api_key":"k"}`, `{"api_key":null}`,
	} {
		checkProblem(t, env.Do(t, "PATCH", one, body), 400, "invalid-request")
	}
	for _, lesser := range []string{env.Tenant.Operator, env.Tenant.Runtime, env.Tenant.Read} {
		checkProblem(t, env.Do(t, "GET", path, nil, harness.Key(lesser)), 403, "auth-scope")
	}
	voice := env.Do(t, "POST", path, `{"kind":"telephony","provider":"twilio","account_id":"AC1","api_key":"short"}`).Must(t, 201)
	if voice.Text("api_key_hint") != "" {
		t.Errorf("the hint gives most of a short key away: %s", voice.Body)
	}
	env.Do(t, "DELETE", one, nil).Must(t, 204)
	env.Do(t, "DELETE", one, nil).Must(t, 204)
	checkProblem(t, env.Do(t, "GET", one, nil), 404, "not-found")
}

// TestMovedSecret copies sealed values to where they do not belong.
func TestMovedSecret(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	own := openaichat.NewWithKey(t, ownKey)
	stranger := k.NewTenant(t, "enterprise")
	create := func(tenant harness.Tenant, workspace, key string) {
		k.Do(t, "POST", "/v1/workspaces/"+workspace+"/provider-credentials",
			`{"kind":"model","provider":"openai","base_url":"`+own.BaseURL+`","api_key":"`+key+`"}`, harness.Key(tenant.Admin)).Must(t, 201)
	}
	create(k.Tenant, k.Tenant.WorkspaceID, ownKey)
	create(k.Tenant, k.otherWorkspace, "sk-worthless-5555555555555")
	create(stranger, stranger.WorkspaceID, "sk-worthless-6666666666666")
	beside := k.session(t, k.otherWorkspace, `{}`)
	elsewhere := k.session(t, stranger.WorkspaceID, `{}`, harness.Key(stranger.Admin))
	k.Exec(t, "UPDATE provider_credentials SET api_key = (SELECT api_key FROM provider_credentials WHERE workspace_id = $1)",
		k.Tenant.WorkspaceID)
	checkProblem(t, k.turn(t, beside), 502, "upstream-failed")
	checkProblem(t, k.turn(t, elsewhere, harness.Key(stranger.Admin)), 502, "upstream-failed")
	if n := len(own.Requests()) + len(k.installed.Requests()); n != 0 {
		t.Errorf("%d requests were made with a key from another row", n)
	}
	k.turn(t, k.session(t, k.Tenant.WorkspaceID, `{}`)).Must(t, 200)
}
