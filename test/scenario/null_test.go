package scenario

import (
	"strings"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestWhatIsNotThere: what has no value is null, a secret is only in the answers that make it, and
// an answer that holds one is not kept by caches.
func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	key := env.Do(t, "POST", "/v1/api-keys", `{"name":"k"}`).Must(t, 201)
	if !strings.HasPrefix(key.Text("secret"), "prl_") || key.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("created: %s %v", key.Body, key.Header)
	}
	for method, path := range map[string]string{"GET": "/v1/api-keys/" + key.Text("id"), "PATCH": "/v1/api-keys/" + key.Text("id")} {
		body := ""
		if method == "PATCH" {
			body = `{"name":"renamed"}`
		}
		got := string(env.Do(t, method, path, body).Must(t, 200).Body)
		if strings.Contains(got, `"secret":`) || !strings.Contains(got, `"expires_at":null`) || !strings.Contains(got, `"last_used_at":null`) {
			t.Errorf("%s: %s", method, got)
		}
	}
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	view := string(env.Do(t, "GET", "/v1/sessions/"+session, "").Must(t, 200).Body)
	if !strings.Contains(view, `"started_at":null,"ended_at":null`) {
		t.Errorf("pending session: %s", view)
	}
	env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"hello"}`).Must(t, 200)
	if turns := string(env.Do(t, "GET", "/v1/sessions/"+session+"/transcript", "").Must(t,
		200).Body); !strings.Contains(turns, `"error":null`) {
		t.Errorf("transcript: %s", turns)
	}
}
