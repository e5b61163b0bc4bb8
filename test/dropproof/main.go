// Command dropproof shows that conversations survive. It holds one over a session's chat_url while
// connections are cut and a server is killed in the middle of an answer, prints what it sees, and
// counts what was lost. examples/drop-proof.sh starts what it needs.
//
//	dropproof -parlance BINARY        starts two servers and a worker on DATABASE_URL and REDIS_URL
//	dropproof -data-dir DIR           uses the running `parlance dev` with this data directory
//
// A load balancer in this program stands between client and servers, and can cut connections. The
// model is a script on OpenAI's protocol that counts slowly, so that answers can be broken in the
// middle. The program exits with 1 when a turn was lost, or a part of an answer arrived twice or
// not at all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"parlance.dev/parlance/examples/api"
)

// patience bounds the whole; it is reached only when something is broken.
const patience = 3 * time.Minute

func main() {
	home, _ := os.UserHomeDir() // without one -data-dir must be given
	binary := flag.String("parlance", "", "the built program: start two servers and a worker of it, and kill one")
	dir := flag.String("data-dir", filepath.Join(home, ".local", "share", "parlance"),
		"data directory of the running parlance dev; without -parlance")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := run(ctx, *binary, *dir); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "\ndropproof:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, dir string) (err error) {
	front, err := newFront()
	if err != nil {
		return err
	}
	var stand *installation
	if binary != "" {
		stand, err = startNodes(ctx, binary, front)
	} else {
		stand, err = runningDev(ctx, dir, front)
	}
	if err != nil {
		return err
	}
	defer stand.stop()
	client := &api.Client{Ctx: ctx, Base: "http://" + front.address + "/v1", Key: stand.key, HTTP: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}, // the servers behind the address come and go
	}}
	model, err := serveModel()
	if err != nil {
		return err
	}
	agent, remove, err := setUp(client, model)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	session, err := client.Post("/sessions", api.Object{"agent_id": agent, "user_id": "ann", "modality": "text"}, 201)
	if err != nil {
		return err
	}
	talk := &conversation{
		ctx: ctx, api: client, front: front, session: api.Text(session, "id"), url: api.Text(session, "chat_url"), began: time.Now(),
	}
	defer talk.hangUp()
	if err := scenes(talk, stand); err != nil {
		return err
	}
	if _, err := client.Post("/sessions/"+talk.session+"/end", api.Object{"status": "completed"}, 200); err != nil {
		return err
	}
	return talk.tally()
}

// scenes runs the turns and breaks things in them.
func scenes(talk *conversation, stand *installation) error {
	title("1. The connection breaks in the middle of an answer. The client comes back to the same server.")
	if err := talk.turn("Count, please.", talk.cut); err != nil {
		return err
	}
	if len(stand.nodes) == 1 {
		title("2. Once more, and this time the client is away until the answer is over.")
		if err := talk.turn("Once more.", talk.stayAway); err != nil {
			return err
		}
		fmt.Println("\n(A parlance dev is one server. Without --dev this starts two, and kills one.)")
		return nil
	}
	title("2. It breaks again. The load balancer sends the client to the other server, which has never seen it.")
	if err := talk.turn("Once more.", func() {
		talk.front.prefer(1)
		talk.cut()
	}); err != nil {
		return err
	}
	title("3. kill -9 of the server that answers. Nobody there can say goodbye or write anything down.")
	if err := talk.turn("And again.", func() {
		stand.kill(1)
		talk.say("✗ kill -9 of server B in the middle of the answer, at word %d", talk.words())
	}); err != nil {
		return err
	}
	title("4. The conversation goes on where it is.")
	return talk.turn("A last time.", nil)
}

func title(text string) { fmt.Printf("\n\033[1m%s\033[0m\n", text) }

// setUp makes a workspace with the model's credential and an agent, which remove takes away.
func setUp(client *api.Client, model string) (agent string, remove func() error, err error) {
	workspace, err := client.Post("/workspaces", api.Object{"name": "dropproof"}, 201)
	if err != nil {
		return "", nil, err
	}
	path := "/workspaces/" + api.Text(workspace, "id")
	_, err = client.Post(path+"/provider-credentials", api.Object{
		"kind": "model", "provider": "openai", "base_url": model + "/v1", "api_key": "scripted", "default_model": "script",
	}, 201)
	if err != nil {
		return "", nil, err
	}
	made, err := client.Post(path+"/agents", api.Object{
		"name": "Counter", "instructions": "You count.", "model": api.Object{"provider": "openai"},
	}, 201)
	return api.Text(made, "id"), func() error { return client.Delete(path) }, err
}
