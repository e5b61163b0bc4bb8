package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// text is an answer as text for a model: text unchanged, structured content as JSON, and a
// description of anything else. exact is the structured content as it was written, if that differs.
func text(answer *sdk.CallToolResult, exact string, maxBytes int) string {
	var parts []string
	structured, same := cmp.Or(exact, structure(answer.StructuredContent)), false
	for _, content := range answer.Content {
		part := block(content)
		if part == "" {
			continue
		}
		same = same || sameJSON(part, structured)
		parts = append(parts, part)
	}
	if structured != "" && !same { // servers repeat it as text for older clients
		parts = append(parts, structured)
	}
	whole := strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD")
	if len(whole) <= maxBytes {
		return whole
	}
	return strings.ToValidUTF8(whole[:maxBytes], "") + fmt.Sprintf("\n[cut: the answer is longer than %d bytes]", maxBytes)
}

// block is one part of an answer.
func block(content sdk.Content) string {
	switch c := content.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return binary("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return binary("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return "[resource: " + joined(c.Name, c.Title, c.MIMEType, c.URI, c.Description) + "]"
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return ""
		}
		if c.Resource.Text != "" || len(c.Resource.Blob) == 0 {
			return "[resource: " + joined(c.Resource.MIMEType, c.Resource.URI) + "]\n" + c.Resource.Text
		}
		return binary("resource "+plain(c.Resource.URI), c.Resource.MIMEType, len(c.Resource.Blob))
	}
	return "[a part of a kind that is not known here]"
}

func binary(what, mediaType string, size int) string {
	if mediaType = plain(mediaType); mediaType == "" {
		mediaType = "of no declared type"
	}
	return fmt.Sprintf("[%s: %s, %d bytes; it cannot be shown as text]", what, mediaType, size)
}

func joined(parts ...string) string {
	var some []string
	for _, part := range parts {
		if part = plain(part); part != "" {
			some = append(some, part)
		}
	}
	return strings.Join(some, ", ")
}

// structure is structuredContent as JSON, or empty.
func structure(value any) string {
	if value == nil {
		return ""
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}

// sameJSON says whether two texts are the same JSON value.
func sameJSON(a, b string) bool {
	if b == "" {
		return false
	}
	var left, right any
	return json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && reflect.DeepEqual(left, right)
}

// plain is one line of text without invisible characters.
func plain(s string) string {
	invisible := func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), invisible), " ")
}

// cut is the first n characters of s.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
