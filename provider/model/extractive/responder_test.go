package extractive_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
)

// shop is a small shop's knowledge base, as retrieval may hand it over: always all of it, near
// or far, so that declining is the responder's own doing.
var shop = []model.Passage{
	{
		Source: "Refund policy", Heading: "Returns > Refunds",
		Text: "# Refunds\nRefunds are made within 14 days, to the card you paid with. Sale items\ncannot be returned. Postage is not " +
			"refunded, e.g. for express parcels.",
	},
	{
		Source: "Shipping", Heading: "Shipping > Countries",
		Text: "We ship to Germany, Austria and Switzerland. Parcels to Switzerland may be held at customs.\n\nDelivery takes:\n\n- " +
			"**Germany:** 2 working days\n- **Austria:** 4 working days",
	},
	{
		Source: "Handbook", Heading: "About Brightlane",
		Text: "Brightlane sells lamps and lampshades. At Brightlane we build every lamp by hand in Leipzig. The showroom opens at 10 am and " +
			"closes at 6 pm.",
	},
	{
		Source: "Handbook", Heading: "Account > Subscription",
		Text: "You can cancel your plan at any time on the billing page. Your e-mail address is changed under Profile.",
	},
	{
		Source: "Handbook", Heading: "Account > Password",
		Text: "To reset it, choose “Forgot password” on the sign-in page. The link is valid for 30 minutes.",
	},
}

func ask(t *testing.T, req model.Request) (model.Result, []model.Event) {
	t.Helper()
	var events []model.Event
	result, err := extractive.New().Stream(t.Context(), req, func(e model.Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, events
}

func question(text string, passages ...model.Passage) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: text}}, Passages: passages}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	rows := []struct{ question, want string }{
		{"How long do refunds take?", "Refunds are made within 14 days"},
		{"When are refunds paid out?", "Refunds are made within 14 days"},
		{"What is the refund policy?", "Refunds are made within 14 days"},
		{"Can I return sale items?", "Sale items cannot be returned."},
		{"is postage refunded", "Postage is not refunded, e.g. for express parcels."},
		{"Do you ship to Austria?", "We ship to Germany, Austria and Switzerland."},
		{"How many working days to Germany?", "Germany: 2 working days"},
		{"Which countries do you ship to?", "We ship to Germany, Austria and Switzerland."},
		{"What happens at customs in Switzerland?", "Parcels to Switzerland may be held at customs."},
		{"How do I cancel my subscription?", "You can cancel your plan at any time"},
		{"How can I change my email?", "Your e-mail address is changed under Profile."},
		{"When does the showroom open?", "The showroom opens at 10 am and closes at 6 pm."},
		{"What does Brightlane sell?", "Brightlane sells lamps and lampshades."},
		{"Hello, I forgot my password, please help!", "choose “Forgot password” on the sign-in page."},
		{"Where are the lamps built?", "we build every lamp by hand in Leipzig."},
		{"Tell me about passwords", "To reset it"},
		{"Which card is a refund paid to?", "Refunds are made within 14 days, to the card you paid with."},
	}
	for _, row := range rows {
		result, _ := ask(t, question(row.question, shop...))
		if !strings.Contains(result.Text, row.want) || len(result.Citations) == 0 {
			t.Errorf("%q: got %q, want it to quote %q", row.question, result.Text, row.want)
		}
	}
}

func TestDeclines(t *testing.T) {
	t.Parallel()
	rows := []string{
		"What is the capital of Germany?",
		"Who won the world cup in Germany in 2014?",
		"What is the population of Leipzig?",
		"Who founded Brightlane?",
		"Is Brightlane hiring?",
		"How tall is the Eiffel tower?",
		"What is the weather like?",
		"Write a poem about autumn.",
		"Can I pay with Bitcoin?",
		"What is your phone number?",
		"Do you sell garden furniture?",
		"Why is the sky blue?",
		"How do I file a tax return?",
		"Which days is the moon full?",
	}
	for _, text := range rows {
		result, _ := ask(t, question(text, shop...))
		if !strings.HasPrefix(result.Text, "I have no passage about that") || len(result.Citations) != 0 {
			t.Errorf("%q: got %q, want it declined", text, result.Text)
		}
		if !strings.Contains(result.Text, "not a language model") {
			t.Errorf("%q: it does not say what it is", text)
		}
	}
	if result, _ := ask(t, question("How long do refunds take?")); !strings.HasPrefix(result.Text, "I have no passage") {
		t.Errorf("without passages: %q", result.Text)
	}
	if result, _ := ask(t, question("Hello there!", shop...)); !strings.HasPrefix(result.Text, "Hello!") {
		t.Errorf("a greeting: %q", result.Text)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	overlap := shop[0]
	overlap.Heading = ""
	result, _ := ask(t, question("How long do refunds take?", shop[1], shop[0], overlap))
	want := model.Result{
		Text:         `From “Refund policy” (Returns > Refunds): “Refunds are made within 14 days, to the card you paid with.”`,
		Citations:    []int{1},
		FinishReason: model.FinishStop, Provider: "extractive", Model: "extractive",
	}
	if diff := cmp.Diff(result, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	for place, pages := range map[string][2]int{"(Returns > Refunds, page 7)": {7, 7}, "(Returns > Refunds, pages 7–8)": {7, 8}} {
		paged := shop[0]
		paged.PageStart, paged.PageEnd = pages[0], pages[1]
		if result, _ := ask(t, question("How long do refunds take?", paged)); !strings.Contains(result.Text, place) {
			t.Errorf("got %q, want the place %s", result.Text, place)
		}
	}
	scan := model.Passage{Source: "lease.pdf", Text: shop[0].Text, PageStart: 2, PageEnd: 2}
	result, _ = ask(t, question("How long do refunds take?", scan))
	if !strings.HasPrefix(result.Text, "From “lease.pdf” (Refunds, page 2): ") {
		t.Errorf("with a heading in the text: got %q", result.Text)
	}
	var many []model.Passage
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		many = append(many, model.Passage{Source: name, Text: "Refunds from " + name + " take a week. " + strings.Repeat("Nothing else. ", 3)})
	}
	result, _ = ask(t, question("How long do refunds take?", many...))
	if diff := cmp.Diff(result.Citations, []int{0, 1, 2}); diff != "" {
		t.Errorf("citations (-got +want):\n%s", diff)
	}
	long := model.Passage{Source: "L", Text: "Refunds " + strings.Repeat("and so on ", 200) + "."}
	if result, _ = ask(t, question("refunds?", long)); len([]rune(result.Text)) > 500 {
		t.Errorf("a quote of %d runes", len([]rune(result.Text)))
	}
}

func TestStreamsInPieces(t *testing.T) {
	t.Parallel()
	result, events := ask(t, question("How long do refunds take?", shop...))
	joined := ""
	for _, e := range events {
		delta, ok := e.(model.TextDelta)
		if !ok || delta.Text == "" || len(strings.Fields(delta.Text)) > 4 {
			t.Errorf("piece %#v", e)
		}
		joined += delta.Text
	}
	if joined != result.Text || len(events) < 4 {
		t.Errorf("%d pieces make %q, not %q", len(events), joined, result.Text)
	}
	enough := errors.New("enough")
	short, err := extractive.New().Stream(t.Context(), question("refunds?", shop...), func(model.Event) error { return enough })
	if !errors.Is(err, enough) || short.Text != "" {
		t.Errorf("a listener that stops: %q, %v", short.Text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	short, err = extractive.New().Stream(ctx, question("refunds?", shop...), func(model.Event) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) || short.Text == "" || short.Text == result.Text {
		t.Errorf("a hang-up: %q, %v", short.Text, err)
	}
}

var tools = []model.Tool{{Name: "get_weather"}, {Name: "order-status"}}

func TestToolCommand(t *testing.T) {
	t.Parallel()
	rows := []struct {
		text  string
		tools []model.Tool
		call  string
		words []string
	}{
		{`/tool get_weather {"city": "Rome"}`, tools, `get_weather {"city": "Rome"}`, nil},
		{"  /tool get_weather  ", tools, `get_weather {}`, nil},
		{`/tool order-status{"id":7}`, tools, `order-status {"id":7}`, nil},
		{`/tool get_weather {"city": Rome}`, tools, "", []string{"not a JSON object", "/tool <slug> {json}"}},
		{`/tool get_weather Rome`, tools, "", []string{"not a JSON object"}},
		{`/tool get_weather ["Rome"]`, tools, "", []string{"not a JSON object"}},
		{"/tool", tools, "", []string{"/tool <slug> {json}", "get_weather, order-status"}},
		{"/tool nope {}", tools, "", []string{`no tool "nope"`, "get_weather, order-status"}},
		{"/tool get_weather", nil, "", []string{`no tool "get_weather"`, "has no tools"}},
		{"/toolbox refunds", tools, "", []string{"no passage"}},
	}
	for _, row := range rows {
		req := question(row.text)
		req.Tools = row.tools
		result, events := ask(t, req)
		got := ""
		for _, c := range result.ToolCalls {
			got += c.Name + " " + string(c.Arguments)
		}
		if got != row.call {
			t.Errorf("%q called %q, want %q", row.text, got, row.call)
		}
		if row.call != "" && (len(events) != 1 || result.FinishReason != model.FinishToolCalls || result.ToolCalls[0].ID == "") {
			t.Errorf("%q: %d events, finish %q", row.text, len(events), result.FinishReason)
		}
		for _, words := range row.words {
			if !strings.Contains(result.Text, words) {
				t.Errorf("%q: %q lacks %q", row.text, result.Text, words)
			}
		}
	}
}

func TestToolAnswer(t *testing.T) {
	t.Parallel()
	rows := []struct{ output, want string }{
		{`{"status": "shipped", "parcels": 2, "eta": null}`, "order-status answered: status: shipped, parcels: 2, eta: none"},
		{"It rains.", "order-status answered: It rains."},
		{`{"a":{"b":1}}`, `order-status answered: {"a":{"b":1}}`},
		{"", "order-status answered: (nothing)"},
		{strings.Repeat("x", 5000), "order-status answered: " + strings.Repeat("x", 1000) + " …"},
	}
	for _, row := range rows {
		req := question("/tool order-status")
		req.Messages = append(req.Messages,
			model.Message{
				Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "order-status", Arguments: json.RawMessage(`{}`)}},
			},
			model.Message{Role: model.RoleTool, ToolCallID: "c1", Text: row.output})
		result, _ := ask(t, req)
		if diff := cmp.Diff(result.Text, row.want); diff != "" {
			t.Errorf("(-got +want):\n%s", diff)
		}
		if len(result.ToolCalls) != 0 {
			t.Errorf("it calls again: %v", result.ToolCalls)
		}
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for _, step := range model.Probe(t.Context(), extractive.New(), time.Now) {
		if !step.OK {
			t.Errorf("%s: %s", step.Name, step.Detail)
		}
	}
}

// FuzzAnswer holds that no question or passage brings it down, and that what it emits is its text.
func FuzzAnswer(f *testing.F) {
	f.Add("How long do refunds take?", shop[0].Text)
	f.Add("/tool get_weather {", "- a\n- b")
	f.Add("état?", "L'état. c'est moi…” 。")
	f.Fuzz(func(t *testing.T, text, passage string) {
		req := question(text, model.Passage{Source: "s", Heading: "h", Text: passage})
		req.Tools = tools
		result, events := ask(t, req)
		joined := ""
		for _, e := range events {
			if delta, ok := e.(model.TextDelta); ok {
				joined += delta.Text
			}
		}
		if joined != result.Text {
			t.Errorf("emitted %q, result %q", joined, result.Text)
		}
	})
}

// TestStrongestFirst: the sentence that holds the word few passages have leads, whatever the order
// of retrieval; a heading that extraction left in the text is not quoted as a sentence.
func TestStrongestFirst(t *testing.T) {
	t.Parallel()
	hooks := []model.Passage{
		{
			Source: "Webhooks", Heading: "Webhooks",
			Text: "Webhooks\n\nA webhook tells your system what happened.\n\nThe answer holds the signing secret, once.",
		},
		{Source: "Webhooks", Heading: "Webhooks", Text: "Webhook signatures\n\nWebhooks are signed with HMAC-SHA256 over the raw body."},
		{Source: "Sessions", Heading: "Sessions", Text: "When a conversation is over, a webhook carries its transcript."},
	}
	result, _ := ask(t, question("How are webhooks signed?", hooks...))
	if !strings.HasPrefix(result.Text, "From “Webhooks” (Webhooks > Webhook signatures): “Webhooks are signed with HMAC-SHA256") {
		t.Errorf("got %q", result.Text)
	}
	if strings.Contains(result.Text, "“Webhook signatures") || strings.Contains(result.Text, "transcript") {
		t.Errorf("a heading or a passage without the word was quoted: %q", result.Text)
	}
}
