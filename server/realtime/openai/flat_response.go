package openai

import (
	"encoding/json"
	"maps"
	"slices"

	"parlance.dev/parlance/platform/quickjson"
	"parlance.dev/parlance/sessions"
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

func (e *responseEvent) write(w *quickjson.Writer) (known bool) {
	r := &e.Response
	if r.StatusDetails != nil || r.Output == nil || r.OutputModalities == nil { // rare, and never
		return false
	}
	known = true
	e.begin(w)
	w.Text(`,"response":{"id":`, r.ID)
	w.Text(`,"object":`, r.Object)
	w.Text(`,"status":`, r.Status)
	quickjson.Each(w, `,"status_details":null,"output":`, r.Output, func(item *any) { known = known && writeItem(w, "", *item) })
	quickjson.Each(w, `,"output_modalities":`, r.OutputModalities, func(modality *string) { w.Text("", *modality) })
	writeOptional(w, `,"conversation_id":`, r.ConversationID)
	known = known && writeLimit(w, `,"max_output_tokens":`, r.MaxOutputTokens)
	writePairs(w, `,"metadata":`, r.Metadata)
	writeUsage(w, `,"usage":`, r.Usage)
	w.Text(`,"audio":{"output":{"format":{"type":`, r.Audio.Output.Format.Type)
	if rate := r.Audio.Output.Format.RateHz; rate != 0 {
		w.Int(`,"rate":`, rate)
	}
	w.Text(`},"voice":`, r.Audio.Output.Voice)
	w.Put("}}}}")
	return known
}

// writeLimit writes max_output_tokens, which is a number or a word.
func writeLimit(w *quickjson.Writer, before string, limit any) (known bool) {
	switch limit := limit.(type) {
	case int:
		w.Int(before, limit)
	case string:
		w.Text(before, limit)
	default:
		return false
	}
	return true
}

func writePairs(w *quickjson.Writer, before string, pairs map[string]string) {
	w.Put(before)
	if pairs == nil {
		w.Put("null")
		return
	}
	before = "{"
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		w.Text(before, key)
		w.Text(":", pairs[key])
		before = ","
	}
	if len(pairs) == 0 {
		w.Put("{")
	}
	w.Put("}")
}

func writeUsage(w *quickjson.Writer, before string, u *usage) {
	w.Put(before)
	if u == nil {
		w.Put("null")
		return
	}
	in, cached := &u.InputTokenDetails, &u.InputTokenDetails.CachedTokensDetails
	w.Int(`{"total_tokens":`, u.TotalTokens)
	w.Int(`,"input_tokens":`, u.InputTokens)
	w.Int(`,"output_tokens":`, u.OutputTokens)
	w.Int(`,"input_token_details":{"text_tokens":`, in.TextTokens)
	w.Int(`,"audio_tokens":`, in.AudioTokens)
	w.Int(`,"image_tokens":`, in.ImageTokens)
	w.Int(`,"cached_tokens":`, in.CachedTokens)
	w.Int(`,"cached_tokens_details":{"text_tokens":`, cached.TextTokens)
	w.Int(`,"audio_tokens":`, cached.AudioTokens)
	w.Int(`,"image_tokens":`, cached.ImageTokens)
	w.Int(`}},"output_token_details":{"text_tokens":`, u.OutputTokenDetails.TextTokens)
	w.Int(`,"audio_tokens":`, u.OutputTokenDetails.AudioTokens)
	w.Put("}}")
}

func (e *citationsEvent) room() int { return len(e.Citations) }

func (e *citationsEvent) write(w *quickjson.Writer) (known bool) {
	e.begin(w)
	w.Text(`,"response_id":`, e.ResponseID)
	w.Put(`,"citations":`)
	w.Out = append(w.Out, e.Citations...)
	w.Put("}")
	return true
}

// encodeCitations is encode for the citations of a response. Errors: a similarity that is no number.
func encodeCitations(citations []sessions.Citation) (json.RawMessage, error) {
	return encode(citations)
}
