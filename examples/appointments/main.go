// Command appointments is an agent that books an appointment at a practice, as a customer would
// build it: a REST service (GET for the free slots, POST for the booking), an MCP server, and a
// model. All three run in this program on loopback. Parlance is a running `parlance dev`.
//
//	appointments [-data-dir DIR]     default: ~/.local/share/parlance
//
// The conversation takes four turns over HTTP. The REST service is called with the customer's id
// from the session's dynamic variables, and with a secret header that no model, transcript or trace
// shows. The number of the booking is assigned to a variable, which a later turn uses. At the end
// the program prints the trace of every call. It checks all answers and exits with 1 at the first
// mismatch. It works in a workspace of its own, which it deletes.
//
// The model is a script on OpenAI's protocol, so every run is the same. Without "provider":
// "openai" in createAgent, the agent would use the installation's model.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/examples/api"
)

// secretKey is what the practice's service wants in X-Practice-Key.
const secretKey = "practice-key-9f2c71"

func main() {
	home, _ := os.UserHomeDir() // without one -data-dir must be given
	dir := flag.String("data-dir", filepath.Join(home, ".local", "share", "parlance"), "data directory of the running parlance dev")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "appointments:", err)
		os.Exit(1)
	}
}

// serve runs a handler on a free port of this machine and returns its URL.
func serve(handler http.Handler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with the program
	return "http://" + listener.Addr().String(), nil
}

// shown is the conversation so far.
type shown struct {
	api     *api.Client
	session string
	answers []string
}

func run(ctx context.Context, dir string) (err error) {
	client, err := api.Dev(ctx, dir)
	if err != nil {
		return err
	}
	practice := newPractice()
	model := newModel()
	var urls [3]string
	for i, handler := range []http.Handler{practice, newMCP(), model} {
		if urls[i], err = serve(handler); err != nil {
			return err
		}
	}
	workspace, err := client.Post("/workspaces", api.Object{"name": "appointments example"}, http.StatusCreated)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Delete("/workspaces/"+api.Text(workspace, "id"))) }()
	agent, err := setUp(client, "/workspaces/"+api.Text(workspace, "id"), urls[0], urls[1], urls[2])
	if err != nil {
		return err
	}
	session, err := client.Post("/sessions", api.Object{
		"agent_id": agent, "user_id": "ann", "modality": "text",
		"dynamic_variables": api.Object{"customer_id": "C-17", "secret__practice_key": secretKey},
	}, http.StatusCreated)
	if err != nil {
		return err
	}
	s := &shown{api: client, session: api.Text(session, "id")}
	for _, said := range conversation {
		if err := s.say(said); err != nil {
			return err
		}
	}
	if err := s.check(practice, model); err != nil {
		return err
	}
	_, err = client.Post("/sessions/"+s.session+"/end", api.Object{"status": "completed"}, http.StatusOK)
	return err
}

// setUp makes the model's credential, the agent and its tools, and returns the agent's id.
func setUp(client *api.Client, workspace, practiceURL, mcpURL, modelURL string) (string, error) {
	_, err := client.Post(workspace+"/provider-credentials", api.Object{
		"kind": "model", "provider": "openai", "base_url": modelURL + "/v1", "api_key": "scripted", "default_model": "script",
	}, http.StatusCreated)
	if err != nil {
		return "", err
	}
	agent, err := client.Post(workspace+"/agents", api.Object{
		"name": "Reception", "model": api.Object{"provider": "openai"},
		"instructions": "You book appointments at a practice. The customer's last booking is {{booking_id}}.",
	}, http.StatusCreated)
	if err != nil {
		return "", err
	}
	for _, tool := range tools(practiceURL, mcpURL) {
		made, err := client.Post(workspace+"/tools", tool, http.StatusCreated)
		if err != nil {
			return "", err
		}
		_, err = client.Post(workspace+"/agents/"+api.Text(agent, "id")+"/tools/attach", api.Object{
			"tool_id": api.Text(made, "id"),
			"enabled": true,
		}, http.StatusOK)
		if err != nil {
			return "", err
		}
	}
	return api.Text(agent, "id"), nil
}

// tools are the agent's: two HTTP tools of the practice, and one of the MCP server.
func tools(practiceURL, mcpURL string) []api.Object {
	headers := api.Object{"X-Practice-Key": "{{secret__practice_key}}"}
	return []api.Object{
		{
			"slug": "free_slots", "kind": "http", "method": "GET", "description": "Lists the free slots of a day.",
			"webhook_url": practiceURL + "/customers/{{customer_id}}/slots", "headers": headers, "allow_dynamic_vars": true,
			"input_schema": api.Object{
				"type": "object", "required": []string{"day"}, "additionalProperties": false,
				"properties": api.Object{"day": api.Object{"type": "string", "format": "date", "description": "The day, as in 2026-12-01."}},
			},
		},
		{
			"slug": "book", "kind": "http", "method": "POST", "description": "Books a free slot for the customer.",
			"webhook_url": practiceURL + "/customers/{{customer_id}}/bookings", "headers": headers, "allow_dynamic_vars": true,
			"input_schema": api.Object{
				"type": "object", "required": []string{"day", "time"}, "additionalProperties": false,
				"properties": api.Object{"day": api.Object{"type": "string", "format": "date"}, "time": api.Object{
					"type":    "string",
					"pattern": "^[0-9]{2}:[0-9]{2}$",
				}},
			},
			"assignments": []api.Object{{"dynamic_variable": "booking_id", "value_path": "booking.id"}},
		},
		{
			"slug": "preparation", "kind": "mcp", "description": "Says what to prepare for a treatment.",
			"mcp_server_url": mcpURL, "mcp_tool_name": "preparation",
		},
	}
}

// say takes a turn and prints it.
func (s *shown) say(said string) error {
	turn, err := s.api.Post("/sessions/"+s.session+"/turns", api.Object{"text": said}, http.StatusOK)
	if err != nil {
		return err
	}
	fmt.Printf("\nuser   %s\n", said)
	for _, call := range list(turn, "tool_calls") {
		fmt.Printf("       … %s %s\n", api.Text(call, "slug"), compact(call["input"]))
	}
	fmt.Printf("agent  %s\n", api.Text(turn, "text"))
	s.answers = append(s.answers, api.Text(turn, "text"))
	return nil
}

// check checks the results of the conversation, and prints its traces.
func (s *shown) check(practice *practice, model *model) error {
	listed, err := s.api.Get("/sessions/" + s.session + "/tool-calls")
	if err != nil {
		return err
	}
	transcript, err := s.api.Get("/sessions/" + s.session + "/transcript")
	if err != nil {
		return err
	}
	session, err := s.api.Get("/sessions/" + s.session)
	if err != nil {
		return err
	}
	fmt.Printf("\n%-12s %-6s %8s %8s  %s\n", "trace", "status", "latency", "attempts", "input → output")
	var slugs []string
	for _, call := range list(listed, "tool_calls") {
		slugs = append(slugs, api.Text(call, "slug"))
		output := api.Text(call, "output")
		fmt.Printf("%-12s %6v %5v ms %8v  %s → %s\n", api.Text(call, "slug"), call["status_code"], call["latency_ms"],
			call["attempts"], compact(call["input"]), output)
		if call["error"] != nil {
			return fmt.Errorf("the call of %s failed: %v", api.Text(call, "slug"), call["error"])
		}
	}
	for _, seen := range []any{listed, transcript, session, model.heard()} {
		if strings.Contains(compact(seen), secretKey) {
			return errors.New("the practice's key is shown where it must not be")
		}
	}
	assigned, _ := session["assigned_variables"].(map[string]any)
	switch booked := practice.booked(); {
	case len(booked) != 1 || booked[0] != "C-17 2026-12-01 10:30":
		return fmt.Errorf("booked %v", booked)
	case len(slugs) != 3 || !slices.Contains(slugs, "free_slots") || !slices.Contains(slugs, "preparation") || slugs[2] != "book":
		return fmt.Errorf("traced %v", slugs)
	case assigned["booking_id"] != "B-1":
		return fmt.Errorf("assigned %v", assigned)
	case !strings.Contains(s.answers[2], "B-1"):
		return fmt.Errorf("the booking's number was not known to a later turn: %q", s.answers[2])
	}
	fmt.Println("\nOne appointment was booked, by two HTTP tools and an MCP server; the secret is nowhere.")
	return nil
}

func compact(value any) string {
	encoded, _ := json.Marshal(value) // what was decoded encodes
	return string(encoded)
}

// list is the objects in an array of an object.
func list(object api.Object, name string) []api.Object {
	values, _ := object[name].([]any)
	var all []api.Object
	for _, value := range values {
		if one, ok := value.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}
