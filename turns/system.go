package turns

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns/extratools"
	"parlance.dev/parlance/turns/farewell"
)

// The system tools. The conversation carries out their effects when their call has succeeded.
const (
	toolEndCall  = "end_call"
	toolSkipTurn = "skip_turn"
	toolLanguage = "language_detection"
)

// maxFarewellChars bounds end_call's message, as its schema does.
const maxFarewellChars = 2000

// sayFarewell says the farewell of a round that ends the conversation, before its calls are
// announced: a client may hang up as soon as it is told of end_call. What the model has said in the
// same round is enough. Models often repeat it in end_call's message, so that is not said too.
func (r *Runner) sayFarewell(round []*pendingCall) error {
	text, ending := farewellOf(round)
	if !ending {
		return nil
	}
	last := len(r.Turn.Messages) - 1
	if last >= 0 && r.Turn.Messages[last].Role == sessions.RoleAssistant && len(r.Turn.Messages[last].Calls) == 0 &&
		r.Turn.Messages[last].Text != "" {
		return nil
	}
	if text == "" {
		text = farewell.In(r.Session.Language)
	}
	return r.sayFixed(text)
}

// farewellOf is the message of a round's end_call. ending is false when no end_call of the round
// will succeed.
func farewellOf(round []*pendingCall) (text string, ending bool) {
	for _, p := range round {
		if p.refusal != nil {
			continue
		}
		if !p.system() || p.Call.Name != toolEndCall || p.malformed != "" {
			continue
		}
		var arguments struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		}
		if jsonvalue.DecodeStrict(p.Call.Arguments, &arguments) == nil && utf8.RuneCountInString(arguments.Message) <= maxFarewellChars &&
			utf8.RuneCountInString(arguments.Reason) <= sessions.MaxReasonChars {
			return strings.TrimSpace(sessions.StorableText(arguments.Message)), true
		}
	}
	return "", false
}

// effect applies the effect of a call that succeeded to the turn and the session.
func (r *Runner) effect(p *pendingCall) {
	if !p.system() {
		r.assign(p.assigned)
		return
	}
	switch p.Call.Name {
	case toolEndCall:
		r.end.EndCall, r.stop = true, true
	case toolSkipTurn:
		r.stop = true
	case extratools.Transfer:
		r.requestHandover(extratools.Request(p.Call.Arguments))
	case toolLanguage:
		if tag, err := spokenLanguage(p.Call.Arguments); err == nil {
			r.end.Language, r.Session.Language = tag, tag
		}
	}
}

// spokenLanguage is the canonical language tag in the arguments of language_detection. Errors:
// Invalid invalid-request, for the model to read.
func spokenLanguage(arguments json.RawMessage) (string, error) {
	var asked struct {
		Language string `json:"language"`
	}
	if err := json.Unmarshal(arguments, &asked); err != nil {
		return "", fault.Wrap(err, fault.InvalidRequest, "Give the language as a BCP 47 tag, such as en, de or pt-BR.")
	}
	tag, ok := langtag.Canonical(asked.Language)
	if !ok {
		return "", fault.New(
			fault.InvalidRequest,
			"%q is the tag of no language, so nothing was switched. Give a BCP 47 tag, such as en, de or pt-BR.",
			asked.Language,
		)
	}
	return tag, nil
}

// SwitchedLanguage returns the language, as a canonical tag, that a call of language_detection has
// switched to. It returns false for other calls and for one that failed.
func SwitchedLanguage(e ToolDone) (tag string, switched bool) {
	if !e.System || e.Name != toolLanguage || e.Failed {
		return "", false
	}
	tag, err := spokenLanguage(e.Arguments)
	return tag, err == nil
}

// SystemTools execute the system tools, and those of package extratools, for package tools. They
// only answer the model: their effects follow when their call has succeeded.
func SystemTools() map[string]tools.Builtin {
	answer := func(text string) tools.Builtin {
		return tools.BuiltinFunc(func(context.Context, tools.BuiltinCall) (string, error) { return text, nil })
	}
	all := extratools.Builtins()
	maps.Copy(all, map[string]tools.Builtin{
		toolEndCall:  answer("The conversation ends now."),
		toolSkipTurn: answer("The turn is skipped."),
		toolLanguage: tools.BuiltinFunc(func(_ context.Context, call tools.BuiltinCall) (string, error) {
			tag, err := spokenLanguage(call.Arguments)
			if err != nil {
				return "", err
			}
			return "The language is now " + tag + ". Go on in it.", nil
		}),
	})
	return all
}
