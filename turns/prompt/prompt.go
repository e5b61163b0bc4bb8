// Package prompt writes what the model gets in a turn: the instructions, the conversation, and
// between marks everything from outside.
package prompt

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

const (
	// GoOn is what the model is asked when the user has said nothing new.
	GoOn = "(The user has said nothing new. Go on.)"
	// NoConversation takes its place when the model sees no conversation.
	NoConversation = "(There is no conversation to see. Do what the instructions say.)"
	// passagesIntro introduces the passages.
	passagesIntro = "Passages from the knowledge base follow. Answer from them where they bear on the question, and name the source. " +
		"Say so when they do not answer it."
	summaryIntro = "What was said before the messages below, in short:"
	memoryIntro  = "What is remembered of the user:"
	// onTelephone and youCalled introduce telephone calls.
	onTelephone = "This is a telephone call: speak in short sentences, and write nothing that is only for the eye."
	youCalled   = "You have called the user. Say who you are and why you call."
	// unreachable takes the place of passages that could not be searched.
	unreachable = "The knowledge base cannot be reached right now, so no passages could be looked up for this message. " +
		"Say so where an answer would need it, and do not guess what it holds."
)

// Prompt is all that the model gets in a turn. Its methods System and Messages define the order:
//
//	instructions, variables filled ─ language ─ rule about fences ─ call ─ memory ─ summary ─
//	  passages
//	earlier turns, within the budget ─ this turn
type Prompt struct {
	Instructions string
	Session      sessions.Session
	// FenceKey makes the marks around text from outside.
	FenceKey []byte
	Turn     sessions.TurnID
	// Values are the variables the model may see.
	Values   map[string]string
	Memory   []string
	Summary  string
	Passages []sessions.Passage
	// Unreachable says that no passages could be searched.
	Unreachable bool
	// Now is the time, for an agent that plans calls; zero: the model is not told.
	Now time.Time
	// Said are the messages of earlier turns and of this one, in order.
	Said []sessions.Message
	// GoOn is what the model is asked when the user has said nothing new.
	GoOn string
}

// System is the system prompt.
func (p Prompt) System() string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(strings.TrimSpace(sessions.RenderVariables(p.Instructions, p.Values)))
	if p.Session.Language != "" {
		add("Answer in the language " + p.Session.Language + " unless the user speaks another.")
	}
	if p.hasOutside() {
		add(guards.FenceRule)
	}
	if !p.Now.IsZero() {
		add("It is now " + p.Now.UTC().Format("2006-01-02T15:04Z, a Monday, UTC."))
	}
	add(p.callText())
	if len(p.Memory) > 0 {
		add(memoryIntro + "\n" + p.fence("memory").Wrap(`kind="memory"`, strings.Join(p.Memory, "\n")))
	}
	if p.Summary != "" {
		add(summaryIntro + "\n" + p.fence("summary").Wrap(`kind="summary"`, p.Summary))
	}
	if len(p.Passages) > 0 {
		add(p.passagesText())
	}
	if p.Unreachable {
		add(unreachable)
	}
	return strings.Join(parts, "\n\n")
}

// Messages are the conversation as the model gets it. The last one is the user's or a tool's.
func (p Prompt) Messages() []model.Message {
	messages := sessions.ModelMessages(p.Said, func(call sessions.MessageCall, output string) string {
		return p.fence(call.ID).Wrap(`kind="answer of a tool" tool="`+guards.Attribute(call.Name)+`"`, output)
	})
	if last := len(messages) - 1; last < 0 || messages[last].Role == model.RoleAssistant {
		messages = append(messages, model.Message{Role: model.RoleUser, Text: p.GoOn})
	}
	return messages
}

// callText says that the conversation is a telephone call, and what one is about that the agent has
// made. The reason may be a user's words, so it is fenced.
func (p Prompt) callText() string {
	reason := p.Values[sessions.VariableCallReason]
	switch {
	case !p.Session.OnTelephone:
		return ""
	case p.Values[sessions.VariableCallDirection] != sessions.CallOutbound:
		return onTelephone
	case reason == "":
		return onTelephone + " " + youCalled
	}
	return onTelephone + " " + youCalled + " The reason for the call:\n" + p.fence("reason").Wrap(`kind="reason"`, reason)
}

// hasOutside reports whether anything is in a fence.
func (p Prompt) hasOutside() bool {
	return len(p.Passages) > 0 || len(p.Memory) > 0 || p.Summary != "" || p.Values[sessions.VariableCallReason] != "" ||
		slices.ContainsFunc(p.Said, func(m sessions.Message) bool { return m.Role == sessions.RoleTool || len(m.Calls) > 0 })
}

// fence is the fence of a part of this turn, or of a call.
func (p Prompt) fence(part string) guards.Fence {
	if part == "memory" || part == "summary" || part == "passages" || part == "reason" {
		part = string(p.Turn) + " " + part
	}
	return Fence(p.FenceKey, p.Session.ID, part)
}

// passageOverhead is about how many bytes a passage takes beside its text.
const passageOverhead = 256

func (p Prompt) passagesText() string {
	fence := p.fence("passages")
	room := len(passagesIntro)
	for i := range p.Passages {
		room += passageOverhead + len(p.Passages[i].Text)
	}
	var b strings.Builder
	b.Grow(room)
	b.WriteString(passagesIntro)
	for i := range p.Passages {
		one := &p.Passages[i]
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

// Fence is the fence of a part of a session.
func Fence(key []byte, session sessions.ID, part string) guards.Fence {
	return guards.NewFence(key, string(session)+" "+part)
}
