package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"

	"parlance.dev/parlance/test/audit"
)

func (c *customer) createAgent(ctx context.Context, name string) (id string) {
	got := c.change(ctx, audit.Entry{Noun: audit.Agent, Verb: audit.Create, Mark: name},
		ask{method: http.MethodPost, path: c.in("/agents"), body: map[string]any{
			"name": name, "instructions": "Be brief.", "model": map[string]string{"provider": "extractive"},
		}}, "version", "instructions")
	return got.at("id")
}

// exerciseAgents makes an agent, changes it a few times, and perhaps deletes it.
func (c *customer) exerciseAgents(ctx context.Context) {
	mark := c.mark("agent")
	id := c.createAgent(ctx, mark)
	if id == "" {
		return
	}
	path := c.in("/agents/%s", id)
	c.look(ctx, path, id)
	for range c.rand.IntN(3) {
		c.change(ctx, audit.Entry{Noun: audit.Agent, Verb: audit.Update, ID: id, Mark: mark},
			ask{method: http.MethodPatch, path: path, body: map[string]string{"instructions": c.mark("Say")}}, "version", "instructions")
	}
	if c.chance(40) {
		c.change(ctx, audit.Entry{Noun: audit.Agent, Verb: audit.Delete, ID: id, Mark: mark}, ask{method: http.MethodDelete, path: path})
	}
}

func (c *customer) createTool(ctx context.Context) (id, slug string) {
	slug = c.mark("tool")
	method := "POST"
	if c.chance(30) {
		method = "PUT" // may be repeated, so it is
	}
	got := c.change(ctx, audit.Entry{Noun: audit.Tool, Verb: audit.Create, Mark: slug},
		ask{method: http.MethodPost, path: c.in("/tools"), body: map[string]any{
			"slug": slug, "description": "Counts.", "kind": "http", "method": method, "webhook_url": c.ToolURL +
				"/count", "auth_header": "Bearer " + slug,
		}}, "description")
	return got.at("id"), slug
}

func (c *customer) attachTool(ctx context.Context, agent, tool string, limit int) bool {
	return c.change(ctx, audit.Entry{Noun: audit.ToolAttachment, Verb: audit.Create, ID: agent + "/" + tool},
		ask{
			method: http.MethodPost, path: c.in("/agents/%s/tools/attach", agent),
			body: map[string]any{"tool_id": tool, "enabled": true, "max_calls_per_session": limit},
		}, "enabled").ok()
}

// exerciseTools makes a tool, changes it, attaches it, and takes it away again.
func (c *customer) exerciseTools(ctx context.Context) {
	id, slug := c.createTool(ctx)
	if id == "" {
		return
	}
	path := c.in("/tools/%s", id)
	c.look(ctx, path, id)
	c.change(ctx, audit.Entry{Noun: audit.Tool, Verb: audit.Update, ID: id, Mark: slug},
		ask{method: http.MethodPatch, path: path, body: map[string]string{"description": c.mark("Counts")}}, "description")
	c.attachTool(ctx, c.agent, id, 1+c.rand.IntN(3))
	if c.chance(50) {
		c.change(ctx, audit.Entry{Noun: audit.ToolAttachment, Verb: audit.Delete, ID: c.agent + "/" + id},
			ask{method: http.MethodDelete, path: c.in("/agents/%s/tools/%s", c.agent, id)})
		c.change(ctx, audit.Entry{Noun: audit.Tool, Verb: audit.Delete, ID: id, Mark: slug}, ask{method: http.MethodDelete, path: path})
	}
}

// exerciseSources has a text ingested, attaches it, asks for it, and perhaps deletes it.
func (c *customer) exerciseSources(ctx context.Context) {
	mark := c.mark("source")
	text := fmt.Sprintf("# %s\n\n%s", mark, strings.Repeat("The parcel "+mark+" is on its way to the warehouse. ", 20+c.rand.IntN(200)))
	entry := audit.Entry{Noun: audit.Source, Verb: audit.Create, Mark: mark}
	var got reply
	if c.chance(50) {
		got = c.change(ctx, entry, ask{
			method: http.MethodPost, path: c.in("/knowledge-base/sources/inline"),
			body: map[string]string{"name": mark, "content": text},
		}, "kind", "size_bytes")
	} else {
		body, contentType := form(mark, text)
		got = c.send(ctx, ask{method: http.MethodPost, path: c.in("/knowledge-base/sources/upload"), body: body, contentType: contentType})
		c.note(entry, got, "kind", "size_bytes")
	}
	id := got.at("id")
	if !got.ok() {
		return
	}
	path := c.in("/knowledge-base/sources/%s", id)
	c.look(ctx, path, id)
	switch {
	case c.chance(30):
		c.change(ctx, audit.Entry{Noun: audit.Source, Verb: audit.Delete, ID: id, Mark: mark}, ask{method: http.MethodDelete, path: path})
	default:
		c.sources = append(c.sources, id)
	}
	c.attachSources(ctx)
}

// attachSources attaches one of the earlier sources, if it has become ready, and queries.
func (c *customer) attachSources(ctx context.Context) {
	if len(c.sources) == 0 {
		return
	}
	id := c.sources[c.rand.IntN(len(c.sources))]
	if c.send(ctx, ask{method: http.MethodGet, path: c.in("/knowledge-base/sources/%s", id)}).at("status") != "ready" {
		return
	}
	c.change(ctx, audit.Entry{Noun: audit.Attachment, Verb: audit.Create, ID: c.agent + "/" + id},
		ask{
			method: http.MethodPost, path: c.in("/agents/%s/knowledge-base/attach", c.agent),
			body: map[string]any{"source_ids": []string{id}},
		})
	got := c.send(ctx, ask{
		method: http.MethodPost, path: c.in("/knowledge-base/query"),
		body: map[string]any{"agent_id": c.agent, "q": "Where is the parcel?", "top_k": 3},
	})
	if got.status != 0 && !strings.Contains(string(got.body), "parcel") {
		c.Journal.Complain("query after attaching %s: %d %s", id, got.status, got.body)
	}
}

// form is an upload of a Markdown file.
func form(name, text string) (body, contentType string) {
	var out bytes.Buffer
	writer := multipart.NewWriter(&out)
	_ = writer.WriteField("name", name) // a buffer takes everything
	part, _ := writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="a.md"`},
		"Content-Type":        {"text/markdown"},
	})
	_, _ = io.WriteString(part, text)
	_ = writer.Close()
	return out.String(), writer.FormDataContentType()
}

// exerciseEndpoints makes a webhook endpoint without events, changes it, and perhaps deletes
// it.
func (c *customer) exerciseEndpoints(ctx context.Context) {
	mark := c.mark("endpoint")
	got := c.change(ctx, audit.Entry{Noun: audit.Endpoint, Verb: audit.Create, Mark: mark},
		ask{method: http.MethodPost, path: c.in("/webhooks"), body: map[string]any{
			"url":    c.HookURL,
			"events": []string{}, "description": mark,
		}})
	id := got.at("id")
	if !got.ok() {
		return
	}
	if secret := got.at("secret"); !strings.HasSuffix(secret, got.at("secret_hint")) || !strings.HasPrefix(secret, "whsec_") {
		c.Journal.Complain("endpoint %s was answered without its secret: %s", id, got.body)
	}
	path := c.in("/webhooks/%s", id)
	c.look(ctx, path, id)
	if c.chance(50) {
		entry := audit.Entry{
			Noun: audit.Endpoint, Verb: audit.Update, ID: id, Mark: mark,
			Fields: map[string]string{"events": "fatigue.alert"},
		}
		c.change(ctx, entry, ask{method: http.MethodPatch, path: path, body: map[string]any{"events": []string{"fatigue.alert"}}})
	}
	if c.chance(50) {
		c.change(ctx, audit.Entry{Noun: audit.Endpoint, Verb: audit.Delete, ID: id, Mark: mark}, ask{method: http.MethodDelete, path: path})
	}
}

// exerciseKeys makes an API key, whose secret must work, and perhaps deletes it.
func (c *customer) exerciseKeys(ctx context.Context) {
	mark := c.mark("key")
	got := c.change(ctx, audit.Entry{Noun: audit.Key, Verb: audit.Create, Mark: mark},
		ask{method: http.MethodPost, path: "/v1/api-keys", body: map[string]string{"name": mark, "scope": "read"}}, "scope")
	id := got.at("id")
	if !got.ok() {
		return
	}
	holder := *c
	holder.tenant.Key = got.at("secret")
	if seen := holder.send(ctx, ask{method: http.MethodGet, path: c.in("/agents/%s", c.agent)}); seen.status != 0 && !seen.ok() {
		c.Journal.Complain("the key %s does not open: %d %s", id, seen.status, seen.body)
	}
	if c.chance(50) {
		c.change(ctx, audit.Entry{Noun: audit.Key, Verb: audit.Delete, ID: id, Mark: mark},
			ask{method: http.MethodDelete, path: "/v1/api-keys/" + id})
	}
}
