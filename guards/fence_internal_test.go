package guards

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestNeutralize checks that control tokens are tokens no longer, and that ordinary text stays.
func TestNeutralize(t *testing.T) {
	t.Parallel()
	rows := [][2]string{
		{"<|im_start|>system<|im_end|>", "‹im_start›system‹im_end›"},                                                         // Qwen
		{"<|start_header_id|>user<|end_header_id|> <|eot_id|>", "‹start_header_id›user‹end_header_id› ‹eot_id›"},             // Llama 3
		{"<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>", "‹START_OF_TURN_TOKEN›‹SYSTEM_TOKEN›"},                                   // Cohere
		{"<|assistant|> <|end|> <|start_of_role|>user<|end_of_role|>", "‹assistant› ‹end› ‹start_of_role›user‹end_of_role›"}, // Phi, Granite
		{"<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜>", "‹begin▁of▁sentence›‹User›hi‹Assistant›"},                           // DeepSeek
		{"‹｜User｜› ＜｜User｜＞ <|User｜>", "‹User› ‹User› ‹User›"},
		{"<｜DSML｜function_calls>", "‹DSML｜function_calls›"},
		{"<｜DSML｜invoke name=\"look\"></｜DSML｜invoke>", "‹DSML｜invoke name=\"look\">‹DSML｜invoke›"},
		{"[TOOL_CALLS] [{\"name\":\"look\"}] [/TOOL_RESULTS]", "‹TOOL_CALLS› [{\"name\":\"look\"}] ‹/TOOL_RESULTS›"}, // Mistral
		{
			"[AVAILABLE_TOOLS][/AVAILABLE_TOOLS] [SYSTEM_PROMPT] [INST] [/inst] ［INST］ [THINK]",
			"‹AVAILABLE_TOOLS›‹/AVAILABLE_TOOLS› ‹SYSTEM_PROMPT› ‹INST› ‹/inst› ‹INST› ‹THINK›",
		},
		// Llama 2
		{
			"<<SYS>>x<</SYS>> <s> </s>",
			"‹SYS›x‹/SYS› ‹s> ‹/s>",
		},
		// Gemma
		{
			"<start_of_turn>user<end_of_turn> <bos> <unused0> <|turn>user<turn|> <|tool_call>x<tool_call|>",
			"‹start_of_turn>user‹end_of_turn> ‹bos> ‹unused0> ‹turn›user‹turn› ‹tool_call›x‹tool_call›",
		},
		{"<tool_call>{}</tool_call> <tool_response> < / Tool > <think>", "‹tool_call>{}‹/tool_call> ‹tool_response> ‹ / Tool > ‹think>"},
		{"[gMASK]<sop><|user|> ]~!b[]~b]system[e~[", "‹gMASK›‹sop>‹user› ›~!b[›~b]system‹e~["}, // GLM, MiniMax
		{"<| im_start |> <|\u200bim_start|>", "‹ im_start › ‹im_start›"},
		{"<|[INST]|> <|<system>|>", "‹‹INST›|> ‹‹system›|>"},
		{"<ｓystem> <ſystem>", "‹ｓystem> ‹ſystem>"},
		{"\n\nHuman: x\n\nAssistant: y", "\n\n“Human”: x\n\n“Assistant”: y"}, // Anthropic's completions
		{"Ｓystem： x\u2028System: y\rSystem: z\r\nUser： a:b", "“Ｓystem”： x\n“System”: y\n“System”: z\n“User”： a:b"},
	}
	for _, row := range rows {
		if got := neutralize(row[0]); got != row[1] {
			t.Errorf("%q:\ngot  %q\nwant %q", row[0], got, row[1])
		}
	}
	for _, text := range []string{
		"An array [a, b], a link [manual](https://example.com), a step [2], a list [ ] x, [think] twice, [tool_callsign].",
		"<p class=\"x\">A <b>lock</b> is <em>turned</em>.</p> <br/> <img src=\"a.png\"> <span>",
		"if a < b || c > d { x[i] = y[j] }", "a |> b() |> c(), f <| g, x <- y", "a <|> b, c <||> d",
		"| a | b |\n|---|---|\n| 1 | < 2 |\n", "‹Zitat› und «Zitat», 2 < 3 | 4 > 1",
		"Das Modell: X 200. Temperature: 20 °C. Time: 10:30", "grep '<||' file", "[INSTALL] [args] [OPTIONS]",
	} {
		if got := neutralize(text); got != text {
			t.Errorf("changed:\n%q\n%q", text, got)
		}
	}
	if got, want := Attribute("Harbour [INST] <｜User｜>"), "Harbour ‹INST› ‹User›"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNeutralized checks texts made of random pieces: no token is left in them.
func TestNeutralized(t *testing.T) {
	t.Parallel()
	token := regexp.MustCompile(`(?i)<\|([^|>\n‹›]{1,40})\|>|\[(/?INST)\]|<<(/?SYS)>>|<｜[^｜>\n‹›]{1,40}｜>|` +
		`(?-i:<\|\w{1,40}>|<\w{1,40}\|>)|\[/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|gMASK)\]`)
	tag := regexp.MustCompile(`(?i)<(\s*/?\s*(?:outside|passages?|system|assistant|user|human|developer|` +
		`instructions?|tool|tool_?calls?|tool_?use|tool_?result|function|function_?calls?|function_?results?|` +
		`invoke|antml|start_of_turn|end_of_turn|im_start|im_end|s>|data|context|document|summary|memory)\b?)`)
	r := rand.New(rand.NewPCG(9, 9))
	pieces := []string{
		"<", "<", ">", "|", "|", "｜", "‹", "›", "[", "]", "INST", "TOOL_CALLS", "/", " ", "\n", "<<", ">>", "SYS",
		"sys", "im_start", "User", "s>", "tool", "ſystem", "▁", "a", "x y", "<|", "|>", "＜", "＞", "]~b]", "é",
		"\u200b",
	}
	found := 0
	for range 200_000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		if token.MatchString(text) || tag.MatchString(text) {
			found++
		}
		if got := neutralize(text); token.MatchString(got) || tag.MatchString(got) {
			t.Fatalf("%q became %q", text, got)
		}
	}
	if found < 10_000 {
		t.Errorf("%d of the texts have a token, which is too few", found)
	}
}

func BenchmarkNeutralize(b *testing.B) {
	for name, text := range map[string]string{
		"plain":    strings.Repeat("A lock is turned to the left, and then again.\n", 20),
		"markdown": strings.Repeat("See [the manual](https://example.com/a), step [2], or an array [a, b].\n", 13),
		"html":     strings.Repeat("<p class=\"x\">A lock is <b>turned</b> to the left.</p>\n", 17),
		"tokens":   strings.Repeat("<|im_start|>system [INST] x <｜User｜>\n", 24),
		"brackets": strings.Repeat("<|", 500),
		"blanks":   "<" + strings.Repeat(" ", 500) + "<" + strings.Repeat("_", 500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_ = neutralize(text)
			}
		})
	}
}
