package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"parlance.dev/parlance/examples/api"
)

// installation is the servers that the client uses.
type installation struct {
	key string
	// nodes are the processes of the servers. It is empty for a running `parlance dev`, which is not
	// killed.
	nodes  []*process
	worker *process
}

// process is one of the program, with its log in a file.
type process struct {
	command *exec.Cmd
	log     string
	ended   chan struct{}
}

// startNodes starts two servers and a worker on the databases that the environment names.
func startNodes(ctx context.Context, binary string, front *front) (*installation, error) {
	stand := &installation{key: os.Getenv("PARLANCE_API_KEY")}
	var addresses []string
	for _, name := range []string{"server-a", "server-b"} {
		address, err := freeAddress()
		if err != nil {
			return stand, err
		}
		node, err := start(binary, "server", name,
			"PARLANCE_LISTEN="+address, "PARLANCE_METRICS_LISTEN=off", "PARLANCE_PUBLIC_URL=http://"+front.address)
		if err != nil {
			stand.stop()
			return nil, err
		}
		stand.nodes, addresses = append(stand.nodes, node), append(addresses, address)
	}
	var err error
	if stand.worker, err = start(binary, "worker", "worker"); err != nil {
		stand.stop()
		return nil, err
	}
	for i, address := range addresses {
		if err := awaitReady(ctx, address, stand.nodes[i]); err != nil {
			stand.stop()
			return nil, err
		}
	}
	front.leadTo(addresses...)
	fmt.Printf("  server A  %s\n  server B  %s\n  worker, and one Postgres and one Redis for all of them\n  load "+
		"balancer in front: http://%s\n",
		addresses[0], addresses[1], front.address)
	return stand, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func start(binary, command, name string, settings ...string) (*process, error) {
	p := &process{
		command: exec.Command(binary, command), log: filepath.Join(os.Getenv("DROP_PROOF_LOGS"), name+".log"),
		ended: make(chan struct{}),
	}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	p.command.Env = append(os.Environ(), settings...)
	p.command.Stdout, p.command.Stderr = log, log
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		_ = p.command.Wait() // how it ended is in its log
		_ = log.Close()
		close(p.ended)
	}()
	return p, nil
}

// awaitReady waits until a server says that it is.
func awaitReady(ctx context.Context, address string, p *process) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	for {
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-p.ended:
			said, _ := os.ReadFile(p.log)
			return fmt.Errorf("a server ended at once:\n%s", said)
		case <-ctx.Done():
			return fmt.Errorf("the server at %s does not get ready: %w", address, ctx.Err())
		}
	}
}

// kill is kill -9.
func (i *installation) kill(node int) {
	_ = i.nodes[node].command.Process.Kill() // it has ended then
	<-i.nodes[node].ended
}

// stop ends what was started.
func (i *installation) stop() {
	for _, p := range append(i.nodes, i.worker) {
		if p == nil {
			continue
		}
		_ = p.command.Process.Kill() // it has ended then
		<-p.ended
	}
}

// runningDev finds the `parlance dev` that runs with a data directory.
func runningDev(ctx context.Context, dir string, front *front) (*installation, error) {
	running, err := api.Dev(ctx, dir)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(running.Base)
	if err != nil || base.Scheme != "http" {
		return nil, fmt.Errorf("this talks to a `parlance dev` without --tls; %q is not one", running.Base)
	}
	front.leadTo(base.Host)
	fmt.Printf("  server A  %s\n  in front  http://%s, which can be cut\n", base.Host, front.address)
	return &installation{key: running.Key, nodes: make([]*process, 1)}, nil
}
