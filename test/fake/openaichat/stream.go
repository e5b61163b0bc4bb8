package openaichat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"parlance.dev/parlance/provider/model/modeltest"
)

// stream writes one answer as server-sent events.
type stream struct {
	w     http.ResponseWriter
	ctx   context.Context
	model string
	azure bool
}

type object = map[string]any

func (s *stream) send(reply Reply) {
	if reply.AtOnce {
		s.atOnce(reply)
		return
	}
	s.w.Header().Set("Content-Type", "text/event-stream")
	if s.azure {
		s.data(object{"id": "", "object": "", "created": 0, "model": "", "choices": []object{}, "prompt_filter_results": []object{
			{"prompt_index": 0, "content_filter_results": harmless()},
		}})
	}
	s.choice(object{"role": "assistant", "content": ""}, nil)
	for reply.Idle && modeltest.Wait(s.ctx, time.After(modeltest.IdleEvery)) {
		s.choice(object{"content": ""}, nil)
	}
	for _, text := range reply.Text {
		if !s.pass(reply.Gate) {
			return
		}
		s.choice(object{"content": text}, nil)
	}
	switch reply.End {
	case modeltest.EndError:
		s.data(object{"error": object{"message": "The server had an error.", "type": "server_error"}})
		return
	case modeltest.EndCut:
		panic(http.ErrAbortHandler) // cuts the connection without the final chunk
	case modeltest.EndShort:
		return
	}
	s.calls(reply)
	s.finish(reply)
}

// atOnce is the answer of a server that does not know how to stream, written for people to read.
func (s *stream) atOnce(reply Reply) {
	message := object{"role": "assistant", "content": strings.Join(reply.Text, "")}
	var calls []object
	for _, call := range reply.Calls {
		calls = append(calls, object{"id": call.ID, "type": "function", "function": object{
			"name":      call.Name,
			"arguments": strings.Join(call.Arguments, ""),
		}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	in, out := modeltest.Usage.InputTokens, modeltest.Usage.OutputTokens
	text, err := json.MarshalIndent(object{
		"id": "chatcmpl-fake", "object": "chat.completion", "created": 1700000000, "model": s.model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": "stop"}},
		"usage":   object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	}, "", "  ")
	if err != nil {
		panic(err) // our own maps always marshal
	}
	s.w.Header().Set("Content-Type", "application/json")
	_, _ = s.w.Write(append(text, '\n'))
}

// calls sends the arguments of parallel calls interleaved, as OpenAI may.
func (s *stream) calls(reply Reply) {
	for i, call := range reply.Calls {
		whole := ""
		if reply.Loose {
			for _, piece := range call.Arguments {
				whole += piece
			}
			s.choice(object{"tool_calls": []object{{"function": object{"name": call.Name, "arguments": whole}}}}, nil)
			continue
		}
		s.choice(object{"tool_calls": []object{{
			"index": i, "id": call.ID, "type": "function",
			"function": object{"name": call.Name, "arguments": ""},
		}}}, nil)
	}
	for round := 0; !reply.Loose; round++ {
		sent := false
		for i, call := range reply.Calls {
			if round < len(call.Arguments) {
				sent = true
				s.choice(object{"tool_calls": []object{{"index": i, "function": object{"arguments": call.Arguments[round]}}}}, nil)
			}
		}
		if !sent {
			return
		}
	}
}

func (s *stream) finish(reply Reply) {
	reason := "stop"
	if len(reply.Calls) > 0 {
		reason = "tool_calls"
	}
	if reply.Finish != "" {
		reason = reply.Finish
	}
	if !reply.NoFinish {
		s.choice(object{}, reason)
	}
	if !reply.NoUsage {
		chunk := s.chunk()
		chunk["choices"] = []object{}
		in, out := modeltest.Usage.InputTokens, modeltest.Usage.OutputTokens
		chunk["usage"] = object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
		s.data(chunk)
	}
	switch reply.End {
	case modeltest.EndUnclosed:
		panic(http.ErrAbortHandler)
	case modeltest.EndOpen:
		<-s.ctx.Done()
		return
	}
	_, _ = io.WriteString(s.w, "data: [DONE]\n\n")
}

// pass waits for the test to let the next piece through.
func (s *stream) pass(gate <-chan struct{}) bool {
	return gate == nil || modeltest.Wait(s.ctx, gate)
}

func (s *stream) chunk() object {
	return object{"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1700000000, "model": s.model}
}

func (s *stream) choice(delta object, finish any) {
	chunk := s.chunk()
	choice := object{"index": 0, "delta": delta, "finish_reason": finish}
	if s.azure {
		choice["content_filter_results"], choice["logprobs"] = harmless(), nil
		chunk["system_fingerprint"] = "fp_fake"
	}
	chunk["choices"] = []object{choice}
	s.data(chunk)
}

func (s *stream) data(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	_, _ = io.WriteString(s.w, "data: "+string(text)+"\n\n")
	if flusher, ok := s.w.(http.Flusher); ok {
		flusher.Flush()
	}
}
