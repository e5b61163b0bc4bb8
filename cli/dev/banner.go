package dev

import (
	"fmt"
	"os"
	"strings"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/dev/demo"
)

// banner prints the addresses and keys, which model answers, and what to try.
func (d *dev) callWords() string {
	if d.line == nil {
		return "Twilio, account " + d.config.Twilio.AccountSID
	}
	return "a simulated line; `" + program() + " call +12015550123` is a telephone on it, and has the agent call it"
}

func (d *dev) banner(opened *app.App, made demo.Installation) {
	data := ""
	if d.cmd.Flags().Changed("data-dir") {
		data = " --data-dir " + shellQuote(string(d.dir))
	}
	curl := "curl -s"
	if d.options.tls {
		curl += " --cacert " + shellQuote(d.tls.CAFile)
	}
	answers := opened.Answers
	if d.noticed != "" {
		answers += " (" + d.noticed + ")"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\nParlance answers at %s\n\n", d.url)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "  %-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("API key", "%s", made.APIKey.Reveal())
	row("workspace", "%s", made.Ref.ID)
	row("agent", "%s (%s)", made.AgentID, demo.AgentName)
	row("console", "%s/console/ (talk to the agent in a browser, with this key)", d.url)
	row("for scripts", "%s", d.dir.path(command.EnvFile))
	row("local CA", "%s%s", d.tls.CAFile, map[bool]string{
		true:  " (NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, curl --cacert)",
		false: "",
	}[d.options.tls])
	text.WriteString("\n")
	row("answers", "%s", answers)
	row("", "change it: OPENAI_API_KEY=sk-… %s dev, or --model-base-url http://127.0.0.1:11434/v1 --model-name NAME", program())
	for i, words := range d.embedderWords(opened.Embeds) {
		row(map[bool]string{true: "embeds", false: ""}[i == 0], "%s", words)
	}
	hears, speaks := d.speechWords(opened)
	for i, words := range hears {
		row(map[bool]string{true: "hears", false: ""}[i == 0], "%s", words)
	}
	for i, words := range speaks {
		row(map[bool]string{true: "speaks", false: ""}[i == 0], "%s", words)
	}
	row("calls", "%s", d.callWords())
	row("egress", "%s", d.egressWords())
	fmt.Fprintf(&text, "\nTry, in another terminal:\n\n")
	fmt.Fprintf(&text, "  %s chat%s\n\n", program(), data)
	fmt.Fprintf(&text, "  . %s\n", shellQuote(d.dir.path(command.EnvFile)))
	fmt.Fprintf(&text, "  SESSION=$(%s $PARLANCE_BASE_URL/sessions -H \"Authorization: Bearer $PARLANCE_API_KEY\" \\\n"+
		"    -H \"Content-Type: application/json\" -d '{\"agent_id\": \"'$PARLANCE_AGENT_ID'\", \"user_id\": \"me\", "+
		"\"modality\": \"text\"}' | grep -o 'ses_[A-Za-z0-9]*' | head -1)\n\n", curl)
	fmt.Fprintf(&text, "  %s $PARLANCE_BASE_URL/sessions/$SESSION/turns -H \"Authorization: Bearer $PARLANCE_API_KEY\" \\\n"+
		"    -H \"Content-Type: application/json\" -d '{\"text\": \"How are webhooks signed?\"}'\n\n", curl)
	text.WriteString("Ctrl-C stops everything; the data stays.\n")
	d.say("%s", text.String())
}

// egressWords says which addresses tools, webhooks and fetched pages may reach.
func (d *dev) egressWords() string {
	if d.ownGuard {
		words := "tools, webhooks and fetched pages also reach " + strings.Join(d.config.EgressAllowCIDRs, ", ") +
			" (PARLANCE_EGRESS_ALLOW_CIDRS)"
		if !d.reachesLoopback() {
			words += "; the demo tool " + demo.ToolSlug + " needs 127.0.0.0/8 and is left out"
		}
		return words
	}
	return "tools, webhooks and fetched pages may reach this machine's loopback, which production refuses, and trust the local CA"
}

// program is how to start this binary again.
func program() string {
	path, err := os.Executable()
	if err != nil || strings.Contains(path, "go-build") { // where `go run` puts it
		return "go run ./cmd/parlance"
	}
	return shellQuote(path)
}

// shellQuote quotes a word for a POSIX shell if necessary.
func shellQuote(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return !strings.ContainsRune("/._-+@%:,=", r) && !isWordRune(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func isWordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
