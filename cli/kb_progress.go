package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/cli/intake"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/stablejson"
)

const (
	// drawEvery is how often the bars move.
	drawEvery = 100 * time.Millisecond
	// quietFor is how long nothing is said about an item where there is no terminal.
	quietFor = 10 * time.Second
	// mostNames is the part of the screen that names may take.
	mostNames = 0.4
)

// kbProgress shows how items get on: bars on a terminal, else a line when something happened, or
// with json an object for each item at its end.
type kbProgress struct {
	kb     *kb
	json   bool
	begun  time.Time
	name   int // columns of names
	ticker sync.WaitGroup
	stop   chan struct{}

	mu     sync.Mutex
	states []intake.State
	stay   []string // lines that were not written yet
	said   []time.Time
	broken error // the output
}

// newKBProgress starts to show the items; end must be called.
func newKBProgress(k *kb, items []intake.Item, asJSON bool) *kbProgress {
	p := &kbProgress{kb: k, json: asJSON, begun: k.now(), states: make([]intake.State, len(items)), said: make([]time.Time, len(items)), stop: make(chan struct{})}
	for i, item := range items {
		p.states[i] = intake.State{Item: item, Phase: intake.Waiting}
		p.said[i] = p.begun
		p.name = max(p.name, term.Width(term.Clean(item.Name)))
	}
	if k.screen.Terminal && !asJSON {
		p.ticker.Go(p.draw)
	}
	return p
}

// draw moves the bars until end.
func (p *kbProgress) draw() {
	ticker := time.NewTicker(drawEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.flush(true)
			p.mu.Unlock()
		}
	}
}

// flush writes what is new, and on a terminal the bars.
func (p *kbProgress) flush(bars bool) {
	var rows []string
	if bars && p.kb.screen.Terminal {
		rows = p.rows()
	}
	p.kb.screen.Draw(p.stay, rows)
	p.stay = nil
}

// end writes the rest and takes the bars away.
func (p *kbProgress) end() {
	close(p.stop)
	p.ticker.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		p.flush(false)
	}
}

// changed is intake's.
func (p *kbProgress) changed(i int, now intake.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.states[i]
	p.states[i] = now
	if now.Item.Name != before.Item.Name { // a page has its name when it was fetched
		p.name = max(p.name, term.Width(term.Clean(now.Item.Name)))
	}
	switch {
	case now.Phase == intake.Done && p.json:
		p.sayJSON(now)
	case p.json:
	case now.Phase == intake.Done:
		p.stay = append(p.stay, p.doneLine(now))
		if !p.kb.screen.Terminal {
			p.flush(false)
		}
	case !p.kb.screen.Terminal:
		p.sayPlain(i, before, now)
	}
}

// sayPlain says in a log that something is still going on.
func (p *kbProgress) sayPlain(i int, before, now intake.State) {
	moment := p.kb.now()
	waits := now.Wait != "" && now.Wait != before.Wait
	if !waits && moment.Sub(p.said[i]) < quietFor {
		return
	}
	p.said[i] = moment
	words, share := p.words(now)
	if share >= 0 {
		words += fmt.Sprintf(", %.0f %%", share*100)
	}
	p.stay = append(p.stay, fmt.Sprintf("  … %s: %s", term.Clean(now.Item.Name), words))
	p.flush(false)
}

// words say what is being done with an item, and how much of it is done; a negative share means
// that nobody knows.
func (p *kbProgress) words(s intake.State) (words string, share float64) {
	switch {
	case s.Wait != "":
		return s.Wait + ", waiting", -1
	case s.Phase == intake.Fetching:
		return "fetching", -1
	case s.Phase == intake.Uploading && s.Item.SizeBytes > 0:
		return fmt.Sprintf("uploading %s of %s", bytesWords(float64(s.SentBytes)), bytesWords(float64(s.Item.SizeBytes))), float64(s.SentBytes) / float64(s.Item.SizeBytes)
	case s.Phase == intake.Uploading:
		return "uploading", -1
	case s.Phase == intake.Ingesting && s.Source.GetStatus() == "processing":
		return stageWords(s.Source), float64(s.Source.GetProgress()) / 100
	case s.Phase == intake.Ingesting:
		return "queued", 0
	}
	return "waiting", -1
}

// rows are the bars of what is under way, as many as the screen holds, and a line for all.
func (p *kbProgress) rows() []string {
	columns, lines := p.kb.screen.Size()
	room := max(lines-3, 1)
	var rows []string
	done, failed, under := 0, 0, 0
	for _, s := range p.states {
		switch s.Phase {
		case intake.Waiting:
		case intake.Done:
			done++
			if s.Outcome == intake.Failed {
				failed++
			}
		default:
			if under++; under <= room {
				rows = append(rows, p.row(s, columns))
			}
		}
	}
	total := fmt.Sprintf("  %d of %d done", done, len(p.states))
	if failed > 0 {
		total += fmt.Sprintf(", %d failed", failed)
	}
	if under > room {
		total += fmt.Sprintf(", %d more under way", under-room)
	}
	total += fmt.Sprintf(", %.0f s. Ctrl-C stops", p.kb.now().Sub(p.begun).Seconds())
	return append(rows, p.kb.screen.Dim(term.Cut(total, columns-1)))
}

// row is one bar: picture, name, bar, words. On a narrow screen the bar goes first.
func (p *kbProgress) row(s intake.State, columns int) string {
	const edge, most, least, wordsColumns = 4, 30, 8, 27
	name := min(p.name, int(float64(columns)*mostNames))
	words, share := p.words(s)
	percent := ""
	if share >= 0 {
		percent = fmt.Sprintf("%3.0f %%  ", share*100)
	}
	row := "  " + p.kb.screen.Spin(p.kb.now()) + " " + term.Pad(term.Clean(s.Item.Name), name) + "  "
	left := columns - 1 - edge - name - 2
	if bar := min(left-len("100 %  ")-wordsColumns-2, most); bar >= least && share >= 0 {
		row += p.kb.screen.Bar(share, bar) + "  "
		left -= bar + 2
	}
	return row + term.Cut(percent+words, left)
}

// doneLine is what came of an item.
func (p *kbProgress) doneLine(s intake.State) string {
	screen := p.kb.screen
	name := min(p.name, int(float64(screen.Columns())*mostNames))
	if !screen.Terminal {
		name = p.name
	}
	mark, words := screen.Good("✓"), []string(nil)
	switch s.Outcome {
	case intake.Ready:
		words = []string{holdsWords(s.Source), s.Source.GetId(), "(" + tookWords(s.Ended.Sub(s.Began)) + ")"}
	case intake.AlreadyThere:
		mark, words = screen.Dim("="), []string{"there already", s.Source.GetId()}
	case intake.Accepted:
		mark, words = screen.Busy("→"), []string{"accepted, being ingested", s.Source.GetId()}
	case intake.NotSent:
		mark, words = screen.Dim("·"), []string{"not sent"}
	case intake.Failed:
		mark, words = screen.Bad("✗"), []string{strings.TrimSpace("failed " + intake.CodeOf(s.Err))}
	}
	const edge = 6
	for screen.Terminal && len(words) > 1 && edge+name+term.Width(strings.Join(words, "  ")) >= screen.Columns() {
		words = words[:len(words)-1] // kb ls shows the id too
	}
	for i := range words[1:] {
		words[i+1] = screen.Dim(words[i+1])
	}
	return "  " + mark + " " + term.Pad(term.Clean(s.Item.Name), name) + "  " + strings.Join(words, "  ")
}

// sayJSON prints one line.
func (p *kbProgress) sayJSON(s intake.State) {
	line := kbResult{Given: s.Item.Given, Name: s.Item.Name, Outcome: s.Outcome}
	if s.Source != nil {
		if line.Source, p.broken = stablejson.Marshal(s.Source); p.broken != nil {
			return
		}
	}
	if s.Err != nil {
		code, words, advice := p.kb.failureOf(s)
		line.Error = &kbResultError{code, words, advice}
	}
	p.broken = writeJSON(p.kb.screen.Out, line)
}

// kbResult is an item's line of JSON.
type kbResult struct {
	Given   string          `json:"given"`
	Name    string          `json:"name"`
	Outcome intake.Outcome  `json:"outcome"`
	Source  json.RawMessage `json:"source"`
	Error   *kbResultError  `json:"error"`
}

type kbResultError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Advice  string `json:"advice"`
}

// writeJSON writes a line of JSON for programs: <, > and & stay as they are.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
