package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gobwas/ws"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/bench/rig"
)

// relayCommand makes this program a bare relay: chat sockets on one side, a model's stream on the
// other, and nothing between. What a turn costs it is about the least that this machine can do it
// for in Go as people write it.
const relayCommand = "relay"

// relayTalk is how long the relay is measured.
const relayTalk = 30 * time.Second

// relayed is the CPU in ms that a turn costs the relay, with the crowd's pace and model.
func (w *world) relayed(ctx context.Context) (_ float64, err error) {
	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return 0, err
	}
	program, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("finding this program: %w", err)
	}
	relay, err := rig.Start(program, nil, relayCommand, address, w.paced.url)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, relay.Stop()) }()
	if err := rig.AwaitReady(ctx, "http://"+address); err != nil {
		return 0, err
	}
	chats := make([]*chatter, w.speakers)
	defer func() { closeAll(chats) }()
	group, opening := errgroup.WithContext(ctx)
	group.SetLimit(2 * callers)
	for i := range chats {
		group.Go(func() (err error) { chats[i], err = dialChat(opening, "ws://"+address+"/chat"); return err })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if _, err := w.converse(ctx, chats, crowdPeriod, crowdPeriod); err != nil { // to warm up
		return 0, err
	}
	before, err := ownCPU(relay)
	if err != nil {
		return 0, err
	}
	t, err := w.converse(ctx, chats, crowdPeriod, relayTalk)
	if err != nil {
		return 0, err
	}
	after, err := ownCPU(relay)
	return millis(after-before) / float64(len(t.whole)), err
}

// runRelay serves the sockets at address.
func runRelay(ctx context.Context, address, modelURL string) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/chat", func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, _, err := ws.UpgradeHTTP(r, w)
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_ = (&relay{client: client, modelURL: modelURL, in: buffered.Reader, out: conn}).serve(ctx) // the client has gone
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: answerPatience}
	go func() {
		<-ctx.Done()
		_ = server.Close() // the process ends
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// relay is one socket of it.
type relay struct {
	client   *http.Client
	modelURL string
	in       *bufio.Reader
	out      net.Conn
}

// serve answers frames until the socket ends.
func (r *relay) serve(ctx context.Context) error {
	said := ""
	for {
		frame, err := ws.ReadFrame(r.in)
		if err != nil {
			return fmt.Errorf("reading a frame: %w", err)
		}
		var event struct {
			Type string `json:"type"`
			Item struct {
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			} `json:"item"`
		}
		if err := json.Unmarshal(ws.UnmaskFrameInPlace(frame).Payload, &event); err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		if event.Type != "response.create" {
			said = event.Item.Content[0].Text
			continue
		}
		if err := r.answer(ctx, said); err != nil {
			return err
		}
	}
}

// answer asks the model and passes on what it says, piece by piece.
func (r *relay) answer(ctx context.Context, said string) error {
	body, err := json.Marshal(map[string]any{
		"model": "paced", "stream": true,
		"messages": []map[string]string{{"role": "user", "content": said}},
	})
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.modelURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return fmt.Errorf("asking the model: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if string(data) == "[DONE]" || json.Unmarshal(data, &chunk) != nil || len(chunk.Choices) == 0 {
			continue
		}
		if err := r.say(relayedEvent{Type: "response.output_text.delta", Delta: chunk.Choices[0].Delta.Content}); err != nil {
			return err
		}
	}
	return r.say(relayedEvent{Type: "response.done", Status: "completed"})
}

type relayedEvent struct {
	Type   string `json:"type"`
	Status string `json:"status,omitempty"`
	Delta  string `json:"delta,omitempty"`
}

// say writes an event as one frame.
func (r *relay) say(event relayedEvent) error {
	encoded, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("encoding an event: %w", err)
	}
	frame, err := ws.CompileFrame(ws.NewTextFrame(encoded))
	if err != nil {
		return fmt.Errorf("making a frame: %w", err)
	}
	if _, err := r.out.Write(frame); err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	return nil
}
