package demo

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/app"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/redistest"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// open joins an installation with a running worker.
func open(t *testing.T) Deps {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(dir, "master.key")
	if err := seal.NewMasterKeyFile(key); err != nil {
		t.Fatal(err)
	}
	config, err := app.Load(app.Source{
		LookupEnv: func(string) (string, bool) { return "", false },
		Flags: map[string]string{
			"database-url": pgtest.New(t).URL, "redis-url": redistest.New(t), "blob-url": "file://" + dir, "master-key-file": key,
			"egress-allow-cidrs": "127.0.0.0/8", "shutdown-timeout": "1s",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := app.Open(t.Context(), config, app.Params{
		Version: "test", Component: "dev",
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- opened.Work(running) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the worker ended with %v", err)
		}
		_ = opened.Close() // the databases go with the test
	})
	return Deps{Workspaces: opened.Workspaces, Agents: opened.Agents, Tools: opened.Tools, Knowledge: opened.Knowledge}
}

// seed runs Seed and AttachWhenReady.
func seed(t *testing.T, d Deps, p Params) Installation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	made, err := Seed(ctx, d, p)
	if err != nil {
		t.Fatal(err)
	}
	failed, err := AttachWhenReady(ctx, d, made)
	if err != nil || len(failed) > 0 {
		t.Fatalf("failed %v, %v", failed, err)
	}
	return made
}

func (i Installation) params(url string) Params {
	return Params{APIKey: i.APIKey, WorkspaceID: string(i.Ref.ID), AgentID: string(i.AgentID), EndpointURL: url}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	d := open(t)
	srv := httptest.NewServer(Endpoint())
	t.Cleanup(srv.Close)
	first := seed(t, d, Params{EndpointURL: "http://127.0.0.1:1"})
	again := seed(t, d, first.params(srv.URL))
	if again.Ref != first.Ref || again.APIKey != first.APIKey || again.AgentID != first.AgentID {
		t.Errorf("a second run made %+v beside %+v", again, first)
	}
	principal, err := d.Workspaces.Authenticate(t.Context(), first.APIKey.Reveal())
	if err != nil || principal.Scope != workspaces.ScopeAdmin || principal.Plan != "enterprise" {
		t.Errorf("the key is %+v, %v; want an admin's on enterprise", principal, err)
	}
	sources, _, err := d.Knowledge.List(t.Context(), first.Ref, knowledge.ListParams{})
	if err != nil || len(sources) != len(first.Sources) {
		t.Errorf("%d sources, %v; want the %d of the first run", len(sources), err, len(first.Sources))
	}
	attached, _, err := d.Knowledge.ListAttachments(t.Context(), first.Ref, first.AgentID, postgres.PageParams{})
	if err != nil || len(attached) != len(first.Sources) {
		t.Errorf("%d attachments, %v", len(attached), err)
	}
	registry, err := d.Tools.ListAgentTools(t.Context(), first.Ref, first.AgentID)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := registry.Find(ToolSlug)
	if !ok || !entry.Enabled {
		t.Fatalf("the agent has no %s: %+v", ToolSlug, entry)
	}
	for arguments, status := range map[string]int{`{"order_id": "A-1001"}`: 200, `{"order_id": "Z-9999"}`: 404} {
		outcome, err := d.Tools.Run(t.Context(), first.Ref, tools.RunParams{ToolID: entry.Tool.ID, Arguments: []byte(arguments)})
		if err != nil || outcome.StatusCode != status {
			t.Errorf("%s: %d %+v %v, want %d from where the endpoint is now", arguments, outcome.StatusCode, outcome.Error, err, status)
		}
	}
}

// When tools may not call this machine, the demo has no tool.
func TestSeedWithoutEndpoint(t *testing.T) {
	t.Parallel()
	d := open(t)
	made := seed(t, d, Params{})
	registry, err := d.Tools.ListAgentTools(t.Context(), made.Ref, made.AgentID)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := registry.Find(ToolSlug); ok {
		t.Error("there is a tool without an endpoint")
	}
}

// Changes by a person are kept; missing objects are made again.
func TestSeedRepairs(t *testing.T) {
	t.Parallel()
	d := open(t)
	const url = "http://127.0.0.1:1"
	first := seed(t, d, Params{EndpointURL: url})
	ctx := t.Context()

	t.Run("KeyLost", func(t *testing.T) {
		again := seed(t, d, Params{EndpointURL: url})
		if again.Ref != first.Ref || again.AgentID != first.AgentID || again.APIKey == first.APIKey {
			t.Errorf("got %+v, want a new key for %+v", again, first)
		}
		if _, err := d.Workspaces.Authenticate(ctx, again.APIKey.Reveal()); err != nil {
			t.Error(err)
		}
	})
	t.Run("AgentEdited", func(t *testing.T) {
		_, err := d.Agents.Update(ctx, first.Ref, first.AgentID, func(name *string, c *agents.Config) { *name, c.Instructions = "Bob", "Mine." })
		if err != nil {
			t.Fatal(err)
		}
		again := seed(t, d, first.params(url))
		agent, err := d.Agents.Get(ctx, first.Ref, again.AgentID)
		if err != nil || agent.ID != first.AgentID || agent.Name != "Bob" || agent.Config.Instructions != "Mine." {
			t.Errorf("the agent is %+v, %v; want what the person made of it", agent, err)
		}
	})
	t.Run("AgentDeleted", func(t *testing.T) {
		if err := d.Agents.Delete(ctx, first.Ref, first.AgentID); err != nil {
			t.Fatal(err)
		}
		again := seed(t, d, first.params(url))
		attached, _, err := d.Knowledge.ListAttachments(ctx, again.Ref, again.AgentID, postgres.PageParams{})
		if err != nil || again.AgentID == first.AgentID || len(attached) != len(again.Sources) {
			t.Errorf("agent %s with %d sources, %v; want a new one with all", again.AgentID, len(attached), err)
		}
	})
	t.Run("DocumentOutdated", func(t *testing.T) {
		docs, err := readDocuments()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Knowledge.Delete(ctx, first.Ref, first.Sources[0]); err != nil {
			t.Fatal(err)
		}
		old, err := d.Knowledge.CreateInline(ctx, first.Ref, docs[0].name, "# "+docs[0].name+"\n\nWhat an older version said.\n")
		if err != nil {
			t.Fatal(err)
		}
		again := seed(t, d, first.params(url))
		now, err := d.Knowledge.Get(ctx, first.Ref, again.Sources[0])
		if err != nil || now.ID == old.ID || now.Content != docs[0].content {
			t.Errorf("the document is %s %q, %v; want this version's", now.ID, now.Content, err)
		}
	})
}
