package clitest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/harness"
)

// plans holds one plan with little room, and the plan that the harness uses, which has a price.
const plans = `{
	"small": {"kb_storage_bytes": 40000, "kb_upload_bytes": 30000, "concurrent_sessions": 0, "tools": true, "mcp": true},
	"enterprise": {
		"kb_storage_bytes": 1000000000, "kb_upload_bytes": 100000000, "concurrent_sessions": 0, "tools": true, "mcp": true,
		"stripe_price_ids": ["price_enterprise"]
	}
}`

// Service is a running service with one agent, and a data directory that names it to commands.
type Service struct {
	Env     *harness.Env
	DataDir string
	Agent   string
}

// Options change a Service.
type Options struct {
	// Plan is the tenant's; empty is enterprise.
	Plan string
	// Settings are variables of the environment.
	Settings map[string]string
	// Between wraps the service; commands then reach it through the wrapper.
	Between func(service http.Handler) http.Handler
}

// Start starts a service that ends with the test.
func Start(t *testing.T, o Options) Service {
	t.Helper()
	settings := map[string]string{"PARLANCE_PLANS_FILE": filepath.Join(t.TempDir(), "plans.json")}
	for name, value := range o.Settings {
		settings[name] = value
	}
	WriteFile(t, settings["PARLANCE_PLANS_FILE"], plans)
	s := Service{Env: harness.Start(t, harness.Options{Plan: o.Plan, Settings: settings}), DataDir: t.TempDir()}
	made := s.Env.Do(t, http.MethodPost, s.Env.Tenant.In("/agents"), `{"name": "Ada"}`, harness.Key(s.Env.Tenant.Admin))
	if made.Status != http.StatusCreated {
		t.Fatalf("make an agent: %s", made.Body)
	}
	s.Agent = made.Text("id")
	base := s.Env.URL
	if o.Between != nil {
		target, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.FlushInterval = -1
		srv := httptest.NewServer(o.Between(proxy))
		t.Cleanup(srv.Close)
		base = srv.URL
	}
	WriteFile(t, filepath.Join(s.DataDir, command.EnvFile), command.EnvBaseURL+"="+base+"/v1\n"+
		command.EnvAPIKey+"="+s.Env.Tenant.Operator+"\n"+
		command.EnvWorkspace+"="+s.Env.Tenant.WorkspaceID+"\n"+command.EnvAgent+"="+s.Agent+"\n")
	return s
}

// Run runs a command with a subcommand on the service.
func (s Service) Run(t *testing.T, input, group, sub string, args ...string) Result {
	t.Helper()
	return Execute(t, input, append([]string{group, sub, "--data-dir", s.DataDir}, args...)...)
}

// AddText adds a text to the knowledge base over the API.
func (s Service) AddText(t *testing.T, name string) {
	t.Helper()
	body := `{"name":"` + name + `","content":"Something to read about ` + name + `."}`
	s.Env.Do(t, http.MethodPost, s.Env.Tenant.In("/knowledge-base/sources/inline"), body).Must(t, http.StatusAccepted)
}
