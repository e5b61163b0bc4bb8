package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"parlance.dev/parlance/cli/importer/exports"
	"parlance.dev/parlance/cli/term"
)

// report prints what became of an export.
type report struct {
	screen   *term.Screen
	plan     *exports.Plan
	provider exports.Provider
	files    []string
	o        options
}

// part is an agent, a tool or a source in the report.
type part struct {
	kind, name, became string
	result             result
}

// print prints the report. It returns an error when a part could not be made.
func (r *report) print(done *results) error {
	parts, todos := r.parts(done), r.todos(done)
	if r.o.asJSON {
		if err := r.printJSON(parts, todos); err != nil {
			return err
		}
		return failure(parts)
	}
	r.printParts(parts)
	r.printFields()
	r.printTodos(todos)
	r.printReasons(exports.Cut, "Brought over in part")
	r.printReasons(exports.Lost, "No counterpart")
	r.printKeys(exports.Anew, "Given anew by every installation, or of no use outside "+r.provider.Title())
	r.printKeys(exports.Empty, "Empty or switched off in the export, so there is nothing to bring over")
	if r.o.dryRun {
		r.line("Nothing was made: this was a dry run.")
	}
	return failure(parts)
}

// failure says how many parts could not be made.
func failure(parts []part) error {
	bad, unreached := 0, 0
	for _, one := range parts {
		switch one.result.outcome {
		case failed:
			bad++
		case notTried:
			unreached++
		case toMake, made, there, updated, differs, beingRead:
		}
	}
	if bad+unreached == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d could not be made or attached, and %d were not reached; what was made stays. "+
		"Put it right and run the same command again: what is there is not made twice", bad, len(parts), unreached)
}

func (r *report) parts(done *results) (parts []part) {
	for i, agent := range r.plan.Agents {
		parts = append(parts, part{"agent", agent.Want.GetName(), "agent " + done.agents[i].id, done.agents[i]})
	}
	for i, tool := range r.plan.Tools {
		want := tool.Want
		became := want.GetKind() + " tool: " + strings.TrimSpace(want.GetMethod()+" "+
			exports.SafeURL(cmp.Or(want.GetWebhookUrl(), want.GetMcpServerUrl())))
		parts = append(parts, part{"tool", want.GetSlug(), became, done.tools[i]})
	}
	for i, source := range r.plan.Sources {
		became := "source of a text"
		if source.URL != "" {
			became = "source of " + exports.SafeURL(source.URL)
		}
		parts = append(parts, part{"source", source.Name, became, done.sources[i]})
	}
	return parts
}

func (r *report) printParts(parts []part) {
	columns := []term.Column{{Title: "PART"}, {Title: "NAME", Shrinks: true}, {Title: "BECAME", Drops: 1}, {Title: "STATE"}}
	rows := make([][]term.Cell, len(parts))
	for i, one := range parts {
		state, paint := string(one.result.outcome), r.screen.Good
		if len(one.result.attached) > 0 {
			state += ", attached"
		}
		switch one.result.outcome {
		case failed, differs, notTried:
			paint = r.screen.Bad
		case toMake, made, there, updated, beingRead:
		}
		rows[i] = []term.Cell{
			{Text: one.kind}, {Text: term.Clean(one.name)}, {Text: term.Clean(strings.TrimSpace(one.became))}, {Text: state, Paint: paint},
		}
	}
	r.screen.Draw(r.screen.Table(columns, rows), nil)
	for _, one := range parts {
		if one.result.why != "" {
			r.line("%s %s %s: %s", r.screen.Bad("✗"), one.kind, term.Clean(one.name), term.Clean(one.result.why))
		}
	}
}

// rows are the rows of some kinds.
func (r *report) rows(kinds ...exports.Kind) []exports.Row {
	var rows []exports.Row
	for _, row := range r.plan.Rows {
		if slices.Contains(kinds, row.Kind) {
			rows = append(rows, row)
		}
	}
	return rows
}

// place is the path of a row, with its file when there are several.
func (r *report) place(row exports.Row) string {
	path := cmp.Or(row.Path, "all of it")
	if len(r.files) > 1 {
		path = row.File + ": " + path
	}
	return term.Clean(path)
}

func (r *report) printFields() {
	var cells [][]term.Cell
	rows := r.rows(exports.Mapped, exports.Cut)
	for i := 0; i < len(rows); {
		same := i + 1 // members that became the same field are one line
		for same < len(rows) && rows[same].To == rows[i].To && rows[same].File == rows[i].File {
			same++
		}
		place := r.place(rows[i])
		if same > i+1 {
			place += fmt.Sprintf(" and %d more", same-i-1)
		}
		cells = append(cells, []term.Cell{{Text: place}, {Text: term.Clean(rows[i].To)}})
		i = same
	}
	r.heading("What became what")
	r.screen.Draw(r.screen.Table([]term.Column{{Title: "IN THE EXPORT", Shrinks: true}, {Title: "HERE"}}, cells), nil)
}

func (r *report) printTodos(todos []exports.Todo) {
	if len(todos) == 0 {
		return
	}
	r.heading("Left to do")
	for i, todo := range todos {
		r.line("%2d. %s", i+1, term.Clean(todo.What))
		if todo.Command != "" {
			r.line("    %s", term.Clean(todo.Command))
		}
	}
}

// listPlace matches the end of a path to a member of a list.
var listPlace = regexp.MustCompile(`\[[0-9]+\]$`)

// printReasons prints the rows of a kind with their sentences, each sentence once, and members of a
// list that share one as the first of them.
func (r *report) printReasons(kind exports.Kind, title string) {
	var reasons []string
	rows := map[string][]exports.Row{}
	for _, row := range r.rows(kind) {
		if _, known := rows[row.Why]; !known {
			reasons = append(reasons, row.Why)
		}
		rows[row.Why] = append(rows[row.Why], row)
	}
	if len(reasons) == 0 {
		return
	}
	r.heading(title)
	for _, why := range reasons {
		places := map[string]int{}
		for _, row := range rows[why] {
			places[listOf(row)]++
		}
		for _, row := range rows[why] {
			switch more := places[listOf(row)] - 1; {
			case more > 0:
				r.line("  %s and %d more", r.place(row), more)
			case more == 0:
				r.line("  %s", r.place(row))
			}
			places[listOf(row)] = 0
		}
		r.line("      %s", r.screen.Dim(term.Clean(why)))
	}
}

// listOf is the list that a member is in, or the member.
func listOf(row exports.Row) string {
	return row.File + "\x00" + listPlace.ReplaceAllString(row.Path, "[]")
}

func (r *report) printKeys(kind exports.Kind, title string) {
	rows := r.rows(kind)
	if len(rows) == 0 {
		return
	}
	more := map[string]int{} // the same member of the members of a list
	for _, row := range rows {
		more[sameMember(row)]++
	}
	var places []string
	for _, row := range rows {
		switch n := more[sameMember(row)] - 1; {
		case n > 0:
			places = append(places, fmt.Sprintf("%s (and %d more)", r.place(row), n))
		case n == 0:
			places = append(places, r.place(row))
		}
		more[sameMember(row)] = 0
	}
	r.heading(title)
	r.line("  %s", r.screen.Dim(strings.Join(places, ", ")))
}

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// sameMember is the path of a member without its places in lists.
func sameMember(row exports.Row) string {
	return row.File + "\x00" + listIndex.ReplaceAllString(row.Path, "[]")
}

func (r *report) heading(text string) {
	r.line("")
	r.line("%s", r.screen.Strong(text+":"))
}

func (r *report) line(format string, args ...any) { r.screen.Line(format, args...) }

// todos are the things that are left to do, with the ids of what was made.
func (r *report) todos(done *results) []exports.Todo {
	todos := slices.Clone(r.plan.Todos)
	for i, tool := range r.plan.Tools {
		todos = append(todos, r.toolTodos(tool, done.tools[i])...)
	}
	for i, agent := range r.plan.Agents {
		if name := agent.Want.GetName(); name != agent.Base {
			todos = append(todos, exports.Todo{What: fmt.Sprintf("Look at the agent %s: it has another name, because another agent of the "+
				"export is named %s", name, agent.Base)})
		}
		id := cmp.Or(done.agents[i].id, exports.AgentPlaceholder)
		for _, todo := range agent.Todos {
			todo.Command = strings.ReplaceAll(todo.Command, exports.AgentPlaceholder, id)
			todos = append(todos, todo)
		}
		todos = append(todos, agent.CallTodos()...)
		if len(agent.Variables) > 0 {
			todos = append(todos, r.giveVariables(agent, id))
		}
	}
	return todos
}

// toolTodos are the things that are left to do for a tool.
func (r *report) toolTodos(tool *exports.Tool, done result) (todos []exports.Todo) {
	slug, notes := tool.Want.GetSlug(), tool.Notes
	if len(tool.Secrets) > 0 {
		what, headers := "Give the tool "+slug+" its secret: "+strings.Join(tool.Secrets, ", "), slices.Clone(tool.Secrets)
		if len(done.secretHeaders) > 0 && slices.ContainsFunc(headers, func(name string) bool { return name != "Authorization" }) {
			what += ". Secret headers are replaced together, so give those that it has too: " + strings.Join(done.secretHeaders, ", ")
			headers = append(headers, done.secretHeaders...)
		}
		command := r.command()
		for _, header := range headers {
			command += " --secret " + shellWord(slug+":"+header+"=env:"+variable(slug+"_"+header))
		}
		todos = append(todos, exports.Todo{What: what, Command: command})
	}
	if slug != tool.Base && isNamed(tool.Base, slug) {
		notes = append(slices.Clone(notes), "has another name, because another tool is named "+tool.Base+": use the new one in instructions")
	}
	for _, note := range notes {
		todos = append(todos, exports.Todo{What: fmt.Sprintf("Look at the tool %s: it %s (docs/migrate/%s.md)", slug, note, r.provider)})
	}
	return todos
}

// giveVariables says which variables sessions must be given.
func (r *report) giveVariables(agent *exports.Agent, id string) exports.Todo {
	values := map[string]string{}
	for _, name := range agent.Variables {
		values[name] = "…"
	}
	body, _ := json.Marshal(map[string]any{"agent_id": id, "user_id": "USER", "dynamic_variables": values}) // strings always marshal
	return exports.Todo{
		What: "Give each session its variables: " + strings.Join(agent.Variables, ", "),
		Command: `curl "$PARLANCE_BASE_URL/sessions" -H "Authorization: Bearer $PARLANCE_API_KEY" ` +
			`-H "Content-Type: application/json" -d '` +
			string(body) + "'",
	}
}

// command is this import again.
func (r *report) command() string {
	words := []string{"parlance", "import", string(r.provider)}
	for _, file := range r.files {
		words = append(words, shellWord(file))
	}
	if r.o.prefix != "" {
		words = append(words, "--prefix", shellWord(r.o.prefix))
	}
	if r.o.keepSpeech {
		words = append(words, "--keep-speech")
	}
	if r.o.noModel {
		words = append(words, "--no-model")
	}
	if r.o.name != "" {
		words = append(words, "--name", shellWord(r.o.name))
	}
	return strings.Join(words, " ")
}

var safeWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// shellWord quotes a word for a shell.
func shellWord(word string) string {
	if safeWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var notVariable = regexp.MustCompile(`[^A-Z0-9]+`)

// variable is a name for a variable of the environment.
func variable(name string) string {
	return strings.Trim(notVariable.ReplaceAllString(strings.ToUpper(name), "_"), "_")
}

// printJSON prints a line for each part, each member of the export, and each thing to do.
func (r *report) printJSON(parts []part, todos []exports.Todo) error {
	encoder := json.NewEncoder(r.screen.Out)
	encoder.SetEscapeHTML(false)
	for _, one := range parts {
		if err := encoder.Encode(map[string]any{
			"part": one.kind, "name": one.name, "id": one.result.id, "outcome": one.result.outcome, "why": one.result.why,
			"attached": len(one.result.attached) > 0,
		}); err != nil {
			return err
		}
	}
	for _, row := range r.plan.Rows {
		if err := encoder.Encode(struct {
			Part string `json:"part"`
			exports.Row
		}{"key", row}); err != nil {
			return err
		}
	}
	for _, todo := range todos {
		if err := encoder.Encode(map[string]string{"part": "todo", "what": todo.What, "command": todo.Command}); err != nil {
			return err
		}
	}
	return nil
}
