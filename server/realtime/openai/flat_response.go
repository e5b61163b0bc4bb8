package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/platform/quickjson"
)

// responseRoom is about what a response takes beside its items, its metadata and its citations.
const responseRoom = 768

func (e *responseEvent) room() int {
	room := responseRoom
	for _, item := range e.Response.Output {
		room += roomOf(item)
	}
	for key, value := range e.Response.Metadata {
		room += len(key) + len(value) + len(value)/16 // quotes within it
	}
	return room
}

func (e *responseEvent) append(out []byte) ([]byte, bool) {
	r := &e.Response
	if r.StatusDetails != nil || r.Output == nil || r.OutputModalities == nil { // rare, and never
		return out, false
	}
	out = quickjson.AppendString(append(e.appendHead(out), `,"response":{"id":`...), r.ID)
	out = quickjson.AppendString(append(out, `,"object":`...), r.Object)
	out = quickjson.AppendString(append(out, `,"status":`...), r.Status)
	out = append(out, `,"status_details":null,"output":[`...)
	for i, item := range r.Output {
		if i > 0 {
			out = append(out, ',')
		}
		known := false
		if out, known = appendItem(out, item); !known {
			return out, false
		}
	}
	out = append(out, `],"output_modalities":[`...)
	for i, modality := range r.OutputModalities {
		if i > 0 {
			out = append(out, ',')
		}
		out = quickjson.AppendString(out, modality)
	}
	out = appendOptional(append(out, `],"conversation_id":`...), r.ConversationID)
	out, known := appendLimit(append(out, `,"max_output_tokens":`...), r.MaxOutputTokens)
	out = appendPairs(append(out, `,"metadata":`...), r.Metadata)
	out = appendUsage(append(out, `,"usage":`...), r.Usage)
	out = appendFormat(append(out, `,"audio":{"output":{"format":`...), r.Audio.Output.Format)
	out = quickjson.AppendString(append(out, `,"voice":`...), r.Audio.Output.Voice)
	return append(out, "}}}}"...), known
}

func appendOptional(out []byte, text *string) []byte {
	if text == nil {
		return append(out, "null"...)
	}
	return quickjson.AppendString(out, *text)
}

// appendLimit appends max_output_tokens, which is a number or a word.
func appendLimit(out []byte, limit any) ([]byte, bool) {
	switch limit := limit.(type) {
	case int:
		return strconv.AppendInt(out, int64(limit), 10), true
	case string:
		return quickjson.AppendString(out, limit), true
	}
	return out, false
}

func appendPairs(out []byte, pairs map[string]string) []byte {
	if pairs == nil {
		return append(out, "null"...)
	}
	out = append(out, '{')
	for i, key := range slices.Sorted(maps.Keys(pairs)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = quickjson.AppendString(append(quickjson.AppendString(out, key), ':'), pairs[key])
	}
	return append(out, '}')
}

func appendFormat(out []byte, f format) []byte {
	out = quickjson.AppendString(append(out, `{"type":`...), f.Type)
	if f.RateHz != 0 {
		out = strconv.AppendInt(append(out, `,"rate":`...), int64(f.RateHz), 10)
	}
	return append(out, '}')
}

func appendUsage(out []byte, u *usage) []byte {
	if u == nil {
		return append(out, "null"...)
	}
	number := func(name string, n int) {
		out = strconv.AppendInt(append(out, name...), int64(n), 10)
	}
	in, cached := &u.InputTokenDetails, &u.InputTokenDetails.CachedTokensDetails
	number(`{"total_tokens":`, u.TotalTokens)
	number(`,"input_tokens":`, u.InputTokens)
	number(`,"output_tokens":`, u.OutputTokens)
	number(`,"input_token_details":{"text_tokens":`, in.TextTokens)
	number(`,"audio_tokens":`, in.AudioTokens)
	number(`,"image_tokens":`, in.ImageTokens)
	number(`,"cached_tokens":`, in.CachedTokens)
	number(`,"cached_tokens_details":{"text_tokens":`, cached.TextTokens)
	number(`,"audio_tokens":`, cached.AudioTokens)
	number(`,"image_tokens":`, cached.ImageTokens)
	number(`}},"output_token_details":{"text_tokens":`, u.OutputTokenDetails.TextTokens)
	number(`,"audio_tokens":`, u.OutputTokenDetails.AudioTokens)
	return append(out, "}}"...)
}

func (e *citationsEvent) room() int { return len(e.Citations) }

func (e *citationsEvent) append(out []byte) ([]byte, bool) {
	out = quickjson.AppendString(append(e.appendHead(out), `,"response_id":`...), e.ResponseID)
	out = append(append(out, `,"citations":`...), e.Citations...)
	return append(out, '}'), true
}

// encodeCitations is encode for the citations of a response. Errors: a similarity that is no number.
func encodeCitations(citations []conversation.Citation) (json.RawMessage, error) {
	var w quickjson.Writer
	if conversation.WriteCitations(&w, citations); w.Odd {
		return encode(citations)
	}
	return w.Out, nil
}
