package exports

import (
	"cmp"
	"slices"
	"strings"
)

// platform reads the settings around the conversation.
func (r *elevenReader) platform(b *builder, n node) {
	n.note(elevenNotes.platform)
	for _, one := range n.down("evaluation", "criteria").items() {
		one.note(elevenNotes.criterion)
		b.criterion(one)
	}
	data := n.at("data_collection")
	for _, id := range data.keys() {
		one := data.at(id)
		one.note(elevenNotes.datum)
		b.datum(one, id, "", "enum")
	}
	n.text("summary_language", "agent.analysis.language", func(tag string) string {
		return language(&b.analysis(n.at("summary_language")).Language)(tag)
	})
	r.privacy(b, n.at("privacy"))
	r.overrides(b, n.at("overrides"))
	r.origins(b, n.at("auth"))
	if hook := n.down("workspace_overrides", "webhooks", "post_call_webhook_id"); hook.exists() && hook.value != nil {
		hook.lost("Endpoints are not in exports: register yours.")
		b.todo("Have your endpoint told of conversations that are over", "parlance webhooks create URL --events post_call_transcription")
	}
	for _, one := range n.down("guardrails", "custom", "config", "configs").items() {
		one.lost("A no-go zone with a judge does this (docs/guards.md). It needs a language model, so it is not made here.")
	}
}

// elevenRedaction are the kinds of personal data that both know.
func elevenRedaction(entity string) string {
	switch {
	case entity == "email_address":
		return "email"
	case entity == "contact_number":
		return "phone"
	case strings.HasPrefix(entity, "financial_id.payment_card"):
		return "card"
	case strings.HasPrefix(entity, "financial_id.bank_account"):
		return "iban"
	}
	return ""
}

const noRedaction = "Redacted are numbers of cards and bank accounts (IBAN), e-mail addresses and telephone numbers."

const nothingRedacted = "None of the kinds that it names is redacted here, so nothing is."

// redactAll redacts kinds of personal data, and says which ones stay. ours finds our kind.
func (b *builder) redactAll(kinds []node, ours func(string) string) {
	var stay []string
	for _, kind := range kinds {
		name, _ := kind.value.(string)
		why := b.redact(ours(name))
		if kind.settle("agent.privacy.redact", why); why != "" {
			stay = append(stay, clip(name, 60))
		}
	}
	switch done := strings.Join(b.privacy().GetRedact(), ", "); {
	case done == "":
		b.todo("Nothing of what is said is redacted: the export redacts "+cmp.Or(strings.Join(stay, ", "), "no kind by name")+", and here "+
			"only card, iban, email and phone can be. privacy.zero_retention keeps nothing at all (docs/privacy.md)", "")
	case len(stay) > 0:
		b.todo("Only "+done+" is redacted, and no more "+strings.Join(stay, ", ")+". privacy.zero_retention keeps nothing at all "+
			"(docs/privacy.md)", "")
	}
}

// redact adds a kind of personal data; "" is none of ours.
func (b *builder) redact(kind string) string {
	if kind == "" {
		return noRedaction
	}
	if !slices.Contains(b.privacy().GetRedact(), kind) {
		b.privacy().Redact = append(b.privacy().Redact, kind)
	}
	return ""
}

// days sets for how many days something is kept; each day has so many of the given unit.
func days(place *int32) func(float64) string {
	return func(value float64) string {
		if value < 0 {
			return "" // for ever, as without a limit
		}
		return whole(place, 1, 3650)(value)
	}
}

func (r *elevenReader) privacy(b *builder, n node) {
	n.note(elevenNotes.privacy)
	n.flag("record_voice", "agent.voice.recording.enabled", b.record(n.at("record_voice")))
	n.flag("zero_retention_mode", "agent.privacy.zero_retention", func(on bool) string {
		if on {
			b.privacy().ZeroRetention = true
		}
		return ""
	})
	audioOnly := n.at("delete_transcript_and_pii").value == false && n.at("delete_audio").value == true
	n.number("retention_days", "agent.privacy.retention", func(value float64) string {
		switch {
		case value < 0:
			return "" // for ever, as without a limit
		case audioOnly:
			return days(&b.retention().AudioDays)(value)
		}
		return days(&b.retention().TranscriptDays)(value)
	})
	for _, key := range []string{"delete_transcript_and_pii", "delete_audio"} {
		n.flag(key, "agent.privacy.retention", func(bool) string { return "" })
	}
	redaction := n.at("conversation_history_redaction")
	on, _ := redaction.at("enabled").value.(bool)
	if !on {
		return
	}
	b.redactAll(redaction.at("entities").items(), elevenRedaction)
	redaction.at("enabled").settle("agent.privacy.redact", map[bool]string{true: nothingRedacted}[len(b.privacy().GetRedact()) == 0])
}

// elevenOverrides are the overrides of ElevenLabs and their names here.
var elevenOverrides = []struct {
	path []string
	key  string
}{
	{[]string{"agent", "first_message"}, "first_message"},
	{[]string{"agent", "language"}, "language"},
	{[]string{"agent", "prompt", "prompt"}, "instructions"},
	{[]string{"agent", "prompt", "llm"}, "model"},
	{[]string{"tts", "voice_id"}, "tts"},
	{[]string{"tts", "model_id"}, "tts"},
	{[]string{"tts", "stability"}, "tts"},
	{[]string{"tts", "speed"}, "tts"},
	{[]string{"tts", "similarity_boost"}, "tts"},
	{[]string{"asr", "keywords"}, "stt"},
}

// overrides reads what clients may change.
func (r *elevenReader) overrides(b *builder, n node) {
	n.note(elevenNotes.overrides)
	allowed := n.at("conversation_config_override")
	allowed.note(elevenNotes.overridable)
	for _, one := range elevenOverrides {
		place := allowed.down(one.path...)
		if on, _ := place.value.(bool); on {
			place.became("agent.client_overrides")
			if !slices.Contains(b.Want.GetClientOverrides(), one.key) {
				b.Want.ClientOverrides = append(b.Want.ClientOverrides, one.key)
			}
		}
	}
}

// origins reads the pages that may use the agent.
func (r *elevenReader) origins(b *builder, n node) {
	n.note(elevenNotes.auth)
	for _, one := range n.at("allowlist").items() {
		host := one.at("hostname")
		name, _ := host.value.(string)
		host.settle("agent.widget.allowed_origins", b.origin(name))
	}
}

func (b *builder) origin(host string) string {
	scheme := "https://"
	if host == "localhost" || strings.HasPrefix(host, "localhost:") {
		scheme = "http://"
	}
	origin := scheme + host
	switch list := b.widget().GetAllowedOrigins(); {
	case host == "" || strings.ContainsAny(host, "/?#@ ") || len(origin) > 300:
		return "It is no name of a host."
	case slices.Contains(list, origin):
		return ""
	case len(list) == 50:
		return "An agent has at most 50 origins."
	}
	b.widget().AllowedOrigins = append(b.widget().GetAllowedOrigins(), origin)
	return ""
}
