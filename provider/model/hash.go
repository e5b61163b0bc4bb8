package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
)

// Hash returns the SHA-256, in hex, of the request: the name, the length in bytes and the content
// of each part. Source: docs/receipts.md.
func (r Request) Hash() string {
	h := sha256.New()
	hashPart(h, "system", r.System)
	for _, m := range r.Messages {
		hashPart(h, string(m.Role), m.Text)
		for _, call := range m.ToolCalls {
			hashPart(h, "call "+call.ID+" "+call.Name, call.Arguments)
		}
		if m.ToolCallID != "" {
			hashPart(h, "result", m.ToolCallID)
		}
	}
	for _, tool := range r.Tools {
		hashPart(h, "tool "+tool.Name, tool.Description)
		hashPart(h, "schema", tool.InputSchema)
	}
	hashPart(h, "model", r.Model)
	if r.Temperature != nil {
		hashPart(h, "temperature", strconv.FormatFloat(*r.Temperature, 'f', -1, 64))
	}
	hashPart(h, "max_output_tokens", strconv.Itoa(r.MaxOutputTokens))
	return hex.EncodeToString(h.Sum(nil))
}

// hashPart adds one part to the hash of a prompt.
func hashPart[T ~string | ~[]byte](h hash.Hash, name string, text T) {
	_, _ = fmt.Fprintf(h, "%s %d\n%s\n", name, len(text), text) // a hash never fails
}
