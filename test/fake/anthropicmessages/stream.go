package anthropicmessages

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"parlance.dev/parlance/provider/model/modeltest"
)

// stream writes one answer as server-sent events.
type stream struct {
	w     http.ResponseWriter
	ctx   context.Context
	model string
}

type object = map[string]any

func (s *stream) send(reply Reply) {
	s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	usage := object{}
	if !reply.NoUsage {
		usage = object{"input_tokens": modeltest.Usage.InputTokens, "output_tokens": 1}
	}
	s.event("message_start", object{"message": object{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": s.model,
		"content": []any{}, "stop_reason": nil, "usage": usage,
	}})
	s.event("ping", object{})
	for reply.Idle && modeltest.Wait(s.ctx, time.After(modeltest.IdleEvery)) {
		s.event("ping", object{})
	}
	if !s.text(reply) {
		return
	}
	switch reply.End {
	case modeltest.EndError:
		s.event("error", object{"error": object{"type": "api_error", "message": "Internal server error"}})
		return
	case modeltest.EndCut:
		panic(http.ErrAbortHandler) // cuts the connection without the final chunk
	case modeltest.EndShort:
		return
	}
	s.calls(reply)
	s.finish(reply)
}

func (s *stream) text(reply Reply) bool {
	if len(reply.Text) == 0 {
		return true
	}
	s.event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	for _, text := range reply.Text {
		if !s.pass(reply.Gate) {
			return false
		}
		s.event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": text}})
	}
	if reply.End != modeltest.EndError && reply.End != modeltest.EndCut && reply.End != modeltest.EndShort {
		s.event("content_block_stop", object{"index": 0})
	}
	return true
}

func (s *stream) calls(reply Reply) {
	for i, call := range reply.Calls {
		at := i + 1
		s.event("content_block_start", object{"index": at, "content_block": object{
			"type": "tool_use", "id": call.ID, "name": call.Name, "input": object{},
		}})
		for _, piece := range call.Arguments {
			s.event("content_block_delta", object{"index": at, "delta": object{"type": "input_json_delta", "partial_json": piece}})
		}
		s.event("content_block_stop", object{"index": at})
	}
}

func (s *stream) finish(reply Reply) {
	var reason any = "end_turn"
	if len(reply.Calls) > 0 {
		reason = "tool_use"
	}
	if reply.Finish != "" {
		reason = reply.Finish
	}
	if reply.NoFinish {
		reason = nil
	}
	usage := object{}
	if !reply.NoUsage {
		usage["output_tokens"] = modeltest.Usage.OutputTokens
	}
	s.event("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
	switch reply.End {
	case modeltest.EndUnclosed:
		panic(http.ErrAbortHandler)
	case modeltest.EndOpen:
		<-s.ctx.Done()
		return
	}
	s.event("message_stop", object{})
}

// pass waits for the test to let the next piece through.
func (s *stream) pass(gate <-chan struct{}) bool {
	return gate == nil || modeltest.Wait(s.ctx, gate)
}

func (s *stream) event(name string, data object) {
	data["type"] = name
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	_, _ = io.WriteString(s.w, "event: "+name+"\ndata: "+string(text)+"\n\n")
	if flusher, ok := s.w.(http.Flusher); ok {
		flusher.Flush()
	}
}
