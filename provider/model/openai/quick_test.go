package openai

import (
	"encoding/json"
	"testing"
)

// FuzzQuickWords: what is read quickly is what encoding/json reads, and nothing of it is left out.
func FuzzQuickWords(f *testing.F) {
	for _, row := range quickRows {
		f.Add([]byte(row.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, is := new(piece).read(data)
		if !is {
			return
		}
		var want chunk
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q was read, but is no chunk: %v", data, err)
		}
		if want.failed() || len(want.Choices) != 1 || want.Choices[0].FinishReason != "" || want.Choices[0].Index != 0 || want.Choices[0].Message != nil || want.Choices[0].Delta.Refusal != "" ||
			len(want.Choices[0].Delta.ToolCalls) > 0 || want.Choices[0].Delta.thinks() || want.Usage.PromptTokens > 0 || want.Usage.CompletionTokens > 0 {
			t.Fatalf("%q says more than a piece of text: %+v", data, want)
		}
		if string(got.model) != want.Model || string(got.content) != want.Choices[0].Delta.Content {
			t.Fatalf("%q: got %q of %q, want %q of %q", data, got.content, got.model, want.Choices[0].Delta.Content, want.Model)
		}
	})
}

var quickRows = []struct {
	name, data string
	quick      bool
}{
	{"OpenAI", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x9"}`, true},
	{"its first chunk", `{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}]}`, true},
	{"a bare one", `{"choices":[{"delta":{"content":"piece 1 "},"index":0}]}`, true},
	{"with spaces", `{"choices": [{"index": 0, "delta": {"content": "a \"b\"\n"}, "finish_reason": null}] }`, true},
	{"other letters", `{"choices":[{"delta":{"content":"Größe 日本 \/ \\"}}]}`, true},
	{"an escape of four digits", `{"choices":[{"delta":{"content":"\u00e9"}}]}`, false},
	{"half a letter", "{\"choices\":[{\"delta\":{\"content\":\"\xc3\"}}]}", false},
	{"an end", `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, false},
	{"an end with a piece", `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`, false},
	{"usage", `{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}`, false},
	{"no choice", `{"choices":[]}`, false},
	{"two choices", `{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"y"}}]}`, false},
	{"an error", `{"object":"error","choices":[{"delta":{"content":"x"}}]}`, false},
	{"an error beside", `{"choices":[{"delta":{"content":"x"}}],"error":{"message":"no"}}`, false},
	{"a member twice", `{"choices":[{"delta":{"content":"x","content":"y"}}]}`, false},
	{"a member in capitals", `{"choices":[{"delta":{"content":"x","Content":"y"}}]}`, false},
	{"a call", `{"choices":[{"delta":{"content":"x","tool_calls":[{"index":0}]}}]}`, false},
	{"a refusal", `{"choices":[{"delta":{"content":"x","refusal":"no"}}]}`, false},
	{"more behind it", `{"choices":[{"delta":{"content":"x"}}]}{}`, false},
	{"another choice", `{"choices":[{"delta":{"content":"x"},"index":1}]}`, false},
	{"a choice that is no whole number", `{"choices":[{"delta":{"content":"x"},"index":0.0}]}`, false},
	{"a number that is none", `{"choices":[{"delta":{"content":"x"},"index":01}]}`, false},
	{"no JSON", `{"choices":[{"delta":{"content":"x"}]}`, false},
	{"nothing", ``, false},
}

// TestQuickWords: the shapes that servers send are read quickly, and what says anything else is not.
func TestQuickWords(t *testing.T) {
	t.Parallel()
	for _, row := range quickRows {
		if _, got := new(piece).read([]byte(row.data)); got != row.quick {
			t.Errorf("%s: got %t, want %t", row.name, got, row.quick)
		}
	}
}

func BenchmarkQuickWords(b *testing.B) {
	data := []byte(quickRows[0].data)
	b.ReportAllocs()
	for b.Loop() {
		if _, is := new(piece).read(data); !is {
			b.Fatal("not read")
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	data := []byte(quickRows[0].data)
	b.ReportAllocs()
	for b.Loop() {
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			b.Fatal(err)
		}
	}
}
