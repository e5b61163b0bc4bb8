package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"parlance.dev/parlance/test/audit"
)

// openSession makes a session of the customer's agent.
func (c *customer) openSession(ctx context.Context) (id, mark string, made reply) {
	mark = c.mark("user")
	made = c.change(ctx, audit.Entry{Noun: audit.Session, Verb: audit.Create, Mark: mark, Fields: map[string]string{"status": "open"}},
		ask{method: http.MethodPost, path: "/v1/sessions", body: map[string]string{
			"agent_id": c.agent, "user_id": mark,
			"modality": "text",
		}})
	if !made.ok() {
		return "", mark, made
	}
	c.look(ctx, "/v1/sessions/"+made.at("id"), made.at("id"))
	return made.at("id"), mark, made
}

// endSession ends a session and notes how.
func (c *customer) endSession(ctx context.Context, id, mark string) {
	reason := c.mark("because")
	c.change(ctx, audit.Entry{Noun: audit.Session, Verb: audit.Update, ID: id, Mark: mark, Fields: map[string]string{"end_reason": reason}},
		ask{method: http.MethodPost, path: "/v1/sessions/" + id + "/end", body: map[string]string{
			"status": "completed",
			"reason": reason,
		}}, "status")
}

// talk has a conversation over HTTP.
func (c *customer) talk(ctx context.Context) {
	id, mark, _ := c.openSession(ctx)
	if id == "" {
		return
	}
	for range 1 + c.rand.IntN(4) {
		if c.chance(25) {
			c.streamTurn(ctx, id)
		} else {
			c.takeTurn(ctx, id)
		}
		c.think(ctx)
	}
	c.endSession(ctx, id, mark)
}

// words are something to say that nobody has said before; some call the customer's tool.
func (c *customer) words() string {
	mark := c.mark("word")
	if c.chance(40) {
		return fmt.Sprintf(`/tool %s {"mark":%q}`, c.slug, mark)
	}
	return "Where is the parcel of " + mark + "?"
}

func (c *customer) takeTurn(ctx context.Context, session string) {
	text := c.words()
	c.made++
	got := c.send(ctx, ask{
		method: http.MethodPost, path: "/v1/sessions/" + session + "/turns", body: map[string]string{"text": text},
		key: fmt.Sprintf("key-%s-%d", c.name, c.made),
	})
	c.noteTurn(text, got, got.at("turn_id"), got.at("text"), true)
}

func (c *customer) noteTurn(text string, got reply, id, said string, keyed bool) {
	entry := audit.Entry{Noun: audit.Turn, Verb: audit.Create, Mark: text, Keyed: keyed}
	if got.ok() {
		entry.ID, entry.Fields = id, map[string]string{"text": said, "status": "completed"}
	}
	c.note(entry, got)
}

// streamTurn takes a turn as Server-Sent Events, which is asked for once.
func (c *customer) streamTurn(ctx context.Context, session string) {
	text := c.words()
	got := c.send(ctx, ask{
		method: http.MethodPost, path: "/v1/sessions/" + session + "/turns", body: map[string]string{"text": text},
		accept: "text/event-stream",
	})
	for line := range strings.Lines(string(got.body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		var event struct {
			Type string `json:"type"`
			Turn struct {
				ID   string `json:"turn_id"`
				Text string `json:"text"`
			} `json:"turn"`
		}
		if ok && json.Unmarshal([]byte(data), &event) == nil && event.Type == "turn.done" {
			c.noteTurn(text, got, event.Turn.ID, event.Turn.Text, false)
			return
		}
	}
	// The stream ended without turn.done, or none came: what became of the turn is not known.
	if got.status < 400 {
		got.status = 0
	}
	c.noteTurn(text, got, "", "", false)
}
