package dev

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/dev/demo"
	"parlance.dev/parlance/platform/seal"
)

const (
	// knowledgeWait is how long the start waits for the demo's knowledge base, which takes about a
	// second with the built-in embedder.
	knowledgeWait = 30 * time.Second
	// hurriedStop limits the wait after the second request to stop.
	hurriedStop = 500 * time.Millisecond
)

// serve makes the demo, and runs server and worker until ctx ends or one of them fails.
func (d *dev) serve(ctx context.Context, opened *app.App) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	group, running := errgroup.WithContext(running)
	err := d.start(running, group, opened)
	if err != nil {
		cancel()
	}
	ended := make(chan error, 1) // nobody receives after a hurried stop
	go func() { ended <- group.Wait() }()
	select {
	case failed := <-ended:
		if err == nil {
			err = failed
		}
		return command.Close(opened, err)
	case <-d.hurry.Done():
		// Committed work is kept; connections are cut when the private servers stop.
		select {
		case <-ended: //nolint:errcheck // a hurried stop reports its own error
		case <-time.After(hurriedStop):
		}
		return ctx.Err()
	}
}

// start starts the parts in the group.
func (d *dev) start(ctx context.Context, group *errgroup.Group, opened *app.App) error {
	endpoint := ""
	if d.reachesLoopback() {
		var err error
		if endpoint, err = d.startEndpoint(ctx, group); err != nil {
			return err
		}
	}
	d.steps.Begin("Seeding the demo workspace")
	before := d.dir.env()
	deps := demo.Deps{Workspaces: opened.Workspaces, Agents: opened.Agents, Tools: opened.Tools, Knowledge: opened.Knowledge}
	made, err := demo.Seed(ctx, deps, demo.Params{
		APIKey: seal.Secret(before[command.EnvAPIKey]), WorkspaceID: before[command.EnvWorkspace],
		AgentID: before[command.EnvAgent], EndpointURL: endpoint,
	})
	if err != nil {
		return err
	}
	d.steps.Done("")
	group.Go(func() error { return opened.Work(ctx) })
	if err := d.fillKnowledge(ctx, group, deps, made); err != nil {
		return err
	}
	err = d.dir.writeEnv([][2]string{
		{command.EnvBaseURL, d.url + "/v1"},
		{command.EnvAPIKey, made.APIKey.Reveal()},
		{command.EnvWorkspace, string(made.Ref.ID)},
		{command.EnvAgent, string(made.AgentID)},
	})
	if err != nil {
		return err
	}
	group.Go(func() error { return opened.Serve(ctx, d.listener) })
	d.banner(opened, made)
	return nil
}

// reachesLoopback reports whether tools may call this machine. If not, the demo has no tool.
func (d *dev) reachesLoopback() bool {
	hasLoopback := func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Contains(netip.MustParseAddr("127.0.0.1"))
	}
	return slices.ContainsFunc(d.config.EgressAllowCIDRs, hasLoopback) && !slices.ContainsFunc(d.config.EgressDenyCIDRs, hasLoopback)
}

// startEndpoint serves the endpoint of the demo's tool on any free port.
func (d *dev) startEndpoint(ctx context.Context, group *errgroup.Group) (url string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("serve the demo tool: %w", err)
	}
	srv := &http.Server{Handler: demo.Endpoint(), ReadHeaderTimeout: headerTimeout}
	group.Go(func() error {
		if err := srv.Serve(listener); err != http.ErrServerClosed {
			return fmt.Errorf("serve the demo tool: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return srv.Close()
	})
	return "http://" + listener.Addr().String(), nil
}

// fillKnowledge attaches the sources once a worker has ingested them. If that takes longer than
// knowledgeWait, it goes on in the background.
func (d *dev) fillKnowledge(ctx context.Context, group *errgroup.Group, deps demo.Deps, made demo.Installation) error {
	d.steps.Begin("Ingesting the demo knowledge base")
	type result struct {
		failed []string
		err    error
	}
	done := make(chan result, 1) // nobody receives after knowledgeWait
	group.Go(func() error {
		failed, err := demo.AttachWhenReady(ctx, deps, made)
		done <- result{failed, err}
		return nil // parlance dev works without it
	})
	late := time.NewTimer(knowledgeWait)
	defer late.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		d.steps.Done("The demo knowledge base is still being ingested")
	case came := <-done:
		if came.err != nil {
			return came.err
		}
		for _, failure := range came.failed {
			d.steps.Note("not ingested: %s", failure)
		}
		d.steps.Done("")
	}
	return nil
}
