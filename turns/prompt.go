package turns

import (
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

const (
	// goOn is what the model is asked when the user has said nothing new.
	goOn = "(The user has said nothing new. Go on.)"
	// noConversationPrompt takes its place when the model sees no conversation.
	noConversationPrompt = "(There is no conversation to see. Do what the instructions say.)"
	// answerCapacity is the initial capacity, in bytes, for what the agent says.
	answerCapacity = 1 << 10
	// maxExcerptChars bounds a citation's excerpt. Source: sessions.proto.
	maxExcerptChars = 500
	// passagesIntro introduces the passages.
	passagesIntro = "Passages from the knowledge base follow. Answer from them where they bear on the question, and name the source. " +
		"Say so when they do not answer it."
	summaryIntro = "What was said before the messages below, in short:"
	memoryIntro  = "What is remembered of the user:"
	// unreachable takes the place of passages that could not be searched.
	unreachable = "The knowledge base cannot be reached right now, so no passages could be looked up for this message. " +
		"Say so where an answer would need it, and do not guess what it holds."
)

// prompt is all that the model gets in a turn. Its methods system and messages define the order:
//
//	instructions, variables filled ─ language ─ rule about fences ─ memory ─ summary ─ passages
//	earlier turns, within the budget ─ this turn
type prompt struct {
	instructions string
	session      sessions.Session
	// fenceKey makes the marks around text from outside.
	fenceKey []byte
	turn     sessions.TurnID
	// values are the variables the model may see.
	values   map[string]string
	memory   []string
	summary  string
	passages []sessions.Passage
	// unreachable says that no passages could be searched.
	unreachable bool
	// said are the messages of earlier turns and of this one, in order.
	said []sessions.Message
	// goOn is what the model is asked when the user has said nothing new.
	goOn string
}

// system is the system prompt.
func (p prompt) system() string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(strings.TrimSpace(sessions.RenderVariables(p.instructions, p.values)))
	if p.session.Language != "" {
		add("Answer in the language " + p.session.Language + " unless the user speaks another.")
	}
	if p.hasOutside() {
		add(guards.FenceRule)
	}
	if len(p.memory) > 0 {
		add(memoryIntro + "\n" + p.fence("memory").Wrap(`kind="memory"`, strings.Join(p.memory, "\n")))
	}
	if p.summary != "" {
		add(summaryIntro + "\n" + p.fence("summary").Wrap(`kind="summary"`, p.summary))
	}
	if len(p.passages) > 0 {
		add(p.passagesText())
	}
	if p.unreachable {
		add(unreachable)
	}
	return strings.Join(parts, "\n\n")
}

// messages are the conversation as the model gets it. The last one is the user's or a tool's.
func (p prompt) messages() []model.Message {
	messages := sessions.ModelMessages(p.said, func(call sessions.MessageCall, output string) string {
		return p.fence(call.ID).Wrap(`kind="answer of a tool" tool="`+guards.Attribute(call.Name)+`"`, output)
	})
	if last := len(messages) - 1; last < 0 || messages[last].Role == model.RoleAssistant {
		messages = append(messages, model.Message{Role: model.RoleUser, Text: p.goOn})
	}
	return messages
}

// hasOutside reports whether anything is in a fence.
func (p prompt) hasOutside() bool {
	return len(p.passages) > 0 || len(p.memory) > 0 || p.summary != "" ||
		slices.ContainsFunc(p.said, func(m sessions.Message) bool { return m.Role == sessions.RoleTool || len(m.Calls) > 0 })
}

// fence is the fence of a part of this turn, or of a call.
func (p prompt) fence(part string) guards.Fence {
	if part == "memory" || part == "summary" || part == "passages" {
		part = string(p.turn) + " " + part
	}
	return fenceOf(p.fenceKey, p.session.ID, part)
}

// passageOverhead is about how many bytes a passage takes beside its text.
const passageOverhead = 256

func (p prompt) passagesText() string {
	fence := p.fence("passages")
	room := len(passagesIntro)
	for i := range p.passages {
		room += passageOverhead + len(p.passages[i].Text)
	}
	var b strings.Builder
	b.Grow(room)
	b.WriteString(passagesIntro)
	for i := range p.passages {
		one := &p.passages[i]
		heading, page := "", ""
		if one.Heading != "" {
			heading = ` heading="` + guards.Attribute(one.Heading) + `"`
		}
		if one.PageStart > 0 {
			page = ` page="` + strconv.Itoa(one.PageStart) + `"`
		}
		b.WriteByte('\n')
		fence.Write(
			&b, one.Text, `kind="passage" number="`, strconv.Itoa(i+1), `" source="`, guards.Attribute(one.SourceName), `"`, heading,
			page,
		)
	}
	return b.String()
}

// modelPassages are the passages as the extractive responder gets them.
func modelPassages(passages []sessions.Passage) []model.Passage {
	converted := make([]model.Passage, len(passages))
	for i, p := range passages {
		converted[i] = model.Passage{
			Source:     p.SourceName,
			Heading:    p.Heading,
			Text:       p.Text,
			PageStart:  p.PageStart,
			PageEnd:    p.PageEnd,
			Similarity: p.Similarity,
		}
	}
	return converted
}

// excerptOf is the beginning of a passage.
func excerptOf(text string) string {
	chars := 0
	for at := range text {
		if chars == maxExcerptChars {
			return text[:at]
		}
		chars++
	}
	return text
}

// citationsOf are the passages as the transcript has them.
func citationsOf(passages []sessions.Passage) []sessions.Citation {
	citations := make([]sessions.Citation, len(passages))
	for i, p := range passages {
		citations[i] = sessions.Citation{
			SourceID: p.SourceID, SourceName: p.SourceName, ChunkID: p.ChunkID, Heading: p.Heading,
			PageStart: p.PageStart, PageEnd: p.PageEnd, Similarity: p.Similarity,
			Excerpt: excerptOf(p.Text),
		}
	}
	return citations
}

// fenceOf is the fence of a part of a session.
func fenceOf(key []byte, session sessions.ID, part string) guards.Fence {
	return guards.NewFence(key, string(session)+" "+part)
}
