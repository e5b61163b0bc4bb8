package extractive

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/model"
)

// The names of the memory tools. Source: the contract.
const (
	searchMemory    = "search_memory"
	addNote         = "add_memory_note"
	recordStatement = "record_persona_statement"
)

const (
	// allMemories is how many are told when all are asked for, maxClauses how many statements of one
	// message are taken.
	allMemories = 20
	maxClauses  = 5
	// maxStatementRunes is the longest statement; what is longer tells a story.
	maxStatementRunes = 200
)

// What people say about memory, in English: with other words, and in other languages, /tool does
// it.
var (
	askAll = regexp.MustCompile(
		`^(?:so |and )?(?:what (?:do|did|can) you (?:know|remember|recall)(?: about me| of me)?|` +
			`what (?:have you|did you) (?:noted?|stored?|remembered|learn(?:t|ed)?|saved?)(?: about me| of me)?|` +
			`what is (?:in your memory|remembered)(?: about me| of me)?|` +
			`what's in your memory|(?:do|can) you (?:remember|know|recall) me|` +
			`who am i|(?:tell|show) me (?:what|everything|all) you (?:know|remember)(?: about me| of me)?)$`,
	)
	askOne = regexp.MustCompile(`^(?:what is|what's|whats|do you (?:know|remember)|tell me) my (?:` + ownThings + `)$`)

	stating = regexp.MustCompile(
		`(?i)^(?:my (?:` + ownThings + `) (?:is|are) \S|(?:i am|i'm|i’m) (?:called|allergic to|vegetarian|vegan|intolerant)\b|` +
			`i (?:really |always |usually )?(?:prefer|like|love|hate|dislike|enjoy)\b|` +
			`i (?:don't|don’t|do not) (?:like|enjoy|eat|drink)\b|i live in \S)`,
	)
	callMe   = regexp.MustCompile(`^(?:[Pp]lease )?[Cc]all me \p{Lu}`)
	remember = regexp.MustCompile(`(?i)^(?:please )?(?:remember|note|keep in mind)(?: that)? +(.+)$`)

	forgetAll = regexp.MustCompile(
		`^(?:please )?(?:forget|delete|erase|remove) (?:everything|all)(?: that| of it| of that| of them)?` +
			`(?: you (?:know|remember|have noted|noted|have stored|stored))?(?: (?:about|of|on) me)?(?: please)?$|` +
			`^(?:please )?(?:forget|delete|erase) (?:what you (?:know|remember) (?:about|of) me|me|my memory)(?: please)?$`,
	)
	forgetThat = regexp.MustCompile(
		`^(?:please )?(?:forget|delete|erase)(?: about)? (?:that|it|this|these|them|those|both)(?: again)?(?: please)?$`,
	)
	forgetWhat = regexp.MustCompile(`^(?:please )?(?:forget|delete|erase)(?: about| that)? ((?:my|i|i'm|what|where|how|the|our) .+)$`)

	saysYes   = regexp.MustCompile(`^(?:yes|yes please|yeah|sure|ok|okay|please do|go ahead|of course|you may)$`)
	clauseEnd = regexp.MustCompile(`(?i)(?:[.;!]+\s+|,?\s+and\s+|,\s+)(?:and )?((?:i|i'm|i’m|my|(?:please )?call me)\b)`)
)

// ownThings are what a person has one of.
const ownThings = `(?:(?:first|last|full) )?name|e-?mail(?: address)?|(?:phone|telephone|mobile)(?: number)?|address|birthday|pronouns|` +
	`language|time ?zone|job|profession|(?:favou?rite|preferred) [\p{L}-]+`

// memoryCalls are the calls that the user's words ask for; ok is false when they are about
// something else. Without a call there are words to say.
func memoryCalls(req model.Request, text string) (result model.Result, ok bool) {
	plain := strings.ToLower(strings.Join(strings.Fields(strings.TrimRight(strings.TrimSpace(text), " .!?")), " "))
	plain = strings.ReplaceAll(plain, "’", "'")
	switch {
	case askAll.MatchString(plain):
		return askMemory(req, text, allMemories), offers(req, searchMemory) || len(req.Memories) > 0
	case askOne.MatchString(plain) && offers(req, searchMemory):
		return askMemory(req, text, 1), true
	case saysYes.MatchString(plain):
		return confirming(req)
	case forgetAll.MatchString(plain):
		return forgetting(req, []string{"all"})
	case forgetThat.MatchString(plain):
		return forgetting(req, lastIDs(req))
	}
	if what := forgetWhat.FindStringSubmatch(plain); what != nil {
		return forgetting(req, matching(req.Memories, what[1]))
	}
	if strings.ContainsAny(text, "?\n") {
		return model.Result{}, false
	}
	return stated(req, text)
}

func offers(req model.Request, tool string) bool {
	return slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == tool })
}

// askMemory searches, or tells what it was given when there is no tool to search with.
func askMemory(req model.Request, text string, most int) model.Result {
	if offers(req, searchMemory) {
		return model.Result{ToolCalls: []model.ToolCall{call(req, 0, searchMemory, map[string]any{"query": bounded(text), "top_k": most})}}
	}
	said := make([]string, len(req.Memories))
	for i, m := range req.Memories {
		said[i] = "“" + m.Text + "”"
	}
	return model.Result{Text: "I have noted: " + strings.Join(said, ", ") + "."}
}

// writer is a tool that writes, the better one first; empty: none is offered.
func writer(req model.Request, first, second string) string {
	for _, tool := range []string{first, second} {
		if offers(req, tool) {
			return tool
		}
	}
	return ""
}

// stated makes statements and notes of what the user says of themselves.
func stated(req model.Request, text string) (model.Result, bool) {
	var result model.Result
	add := func(tool, field, words string) {
		if tool != "" && len(result.ToolCalls) < maxClauses {
			result.ToolCalls = append(result.ToolCalls, call(req, len(result.ToolCalls), tool, map[string]any{field: words}))
		}
	}
	for _, clause := range clauses(text) {
		what := remember.FindStringSubmatch(clause)
		if what != nil {
			clause = what[1]
		}
		if len([]rune(clause)) > maxStatementRunes {
			continue
		}
		switch {
		case offers(req, recordStatement) && (stating.MatchString(clause) || callMe.MatchString(clause)):
			add(recordStatement, "statement", clause)
		case what != nil && offers(req, addNote):
			add(addNote, "text", clause)
		}
	}
	return result, len(result.ToolCalls) > 0
}

// clauses are the parts of a text that begin with what somebody says of themselves.
func clauses(text string) []string {
	var parts []string
	rest := strings.TrimSpace(text)
	for rest != "" {
		at := clauseEnd.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		parts = append(parts, rest[:at[0]])
		rest = rest[at[2]:]
	}
	parts = append(parts, rest)
	for i, part := range parts {
		parts[i] = strings.TrimRight(strings.TrimSpace(part), " .!,;")
	}
	return parts
}

// forgetting calls for what has these ids to be forgotten.
func forgetting(req model.Request, ids []string) (model.Result, bool) {
	tool := writer(req, addNote, recordStatement)
	if tool == "" {
		return model.Result{}, false
	}
	if len(ids) == 0 {
		return model.Result{
			Text: "I do not know which of the things I remember that is. Ask me what I know about you, then say “forget that”, or say “forget " +
				"everything”.",
		}, true
	}
	return model.Result{ToolCalls: []model.ToolCall{call(req, 0, tool, map[string]any{"forget": ids})}}, true
}

// confirming takes a yes for the question that was asked about the last thing to be remembered.
func confirming(req model.Request) (model.Result, bool) {
	tool := writer(req, recordStatement, addNote)
	var ids []string
	for _, answer := range lastAnswers(req) {
		if answer.Status == "needs_confirmation" && answer.ID != "" {
			ids = append(ids, answer.ID)
		}
	}
	if tool == "" || len(ids) == 0 {
		return model.Result{}, false
	}
	return model.Result{ToolCalls: []model.ToolCall{call(req, 0, tool, map[string]any{"confirm": ids})}}, true
}

func call(req model.Request, i int, tool string, arguments map[string]any) model.ToolCall {
	encoded, _ := json.Marshal(arguments) //nolint:errchkjson // texts and numbers
	return model.NewToolCall(req.CallID(i), tool, string(encoded))
}

// bounded is as much of a question as the tool takes.
func bounded(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 1000)])
}

// memoryAnswer is what the memory tools answer. Source: memory/builtins.go.
type memoryAnswer struct {
	Status   string   `json:"status"`
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Replaces string   `json:"replaces"`
	IDs      []string `json:"ids"`
	Memories []struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	} `json:"memories"`
}

// lastAnswers are those of the memory tools in the turn before.
func lastAnswers(req model.Request) []memoryAnswer {
	var answers []memoryAnswer
	for _, m := range slices.Backward(req.Messages[:len(req.Messages)-1]) {
		if m.Role == model.RoleUser {
			break
		}
		if m.Role != model.RoleTool {
			continue
		}
		if answer, ok := readMemory(req.ToolName(m.ToolCallID), m.Bare, m.Text); ok {
			answers = append(answers, answer)
		}
	}
	slices.Reverse(answers)
	return answers
}

// lastIDs are what the conversation spoke of last.
func lastIDs(req model.Request) []string {
	var ids []string
	for _, answer := range lastAnswers(req) {
		if answer.ID != "" {
			ids = append(ids, answer.ID)
		}
		for _, m := range answer.Memories {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// matching are the memories that hold all that is to be forgotten.
func matching(memories []model.Memory, what string) []string {
	wanted := contentWords(what)
	var ids []string
	for _, m := range memories {
		has := tongue{}.stems(m.Text)
		if len(wanted) > 0 && !slices.ContainsFunc(wanted, func(word string) bool { return !has[word] }) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// readMemory is a memory tool's answer; false for other tools and for errors.
func readMemory(tool, bare, text string) (answer memoryAnswer, ok bool) {
	if tool != searchMemory && tool != addNote && tool != recordStatement {
		return answer, false
	}
	if bare == "" {
		bare = text
	}
	return answer, json.Unmarshal([]byte(bare), &answer) == nil
}

// memoryWords tells a memory tool's answer.
func memoryWords(answer memoryAnswer) string {
	switch answer.Status {
	case "remembered":
		return "I will remember: “" + answer.Text + "”."
	case "already_known":
		return "I remember that already: “" + answer.Text + "”."
	case "replaced":
		return "I will remember: “" + answer.Text + "”, instead of “" + answer.Replaces + "”."
	case "needs_confirmation":
		if answer.Text == "" {
			return "I did not hear a yes. May I remember it?"
		}
		return "May I remember “" + answer.Text + "”?"
	case "confirmed":
		return "Thank you, I will remember it."
	case "forgotten":
		return "I have forgotten it."
	case "nothing_to_forget":
		return "There is nothing to forget."
	}
	if len(answer.Memories) == 0 {
		return "I remember nothing about you yet."
	}
	said := make([]string, len(answer.Memories))
	for i, m := range answer.Memories {
		said[i] = "- " + m.Text
	}
	return "This is what I remember about you:\n" + strings.Join(said, "\n")
}
