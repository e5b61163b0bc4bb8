package kb

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"parlance.dev/parlance/cli/kb/intake"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/stablejson"
)

const (
	// drawEvery is the interval at which bars are redrawn.
	drawEvery = 100 * time.Millisecond
	// quietFor is the interval of messages about an item when the output is no terminal.
	quietFor = 10 * time.Second
	// mostNames is the share of the screen for names.
	mostNames = 0.4
)

// progress shows the items: as bars on a terminal, as lines elsewhere, or with json as one object
// for each item when it has ended.
type progress struct {
	kb     *kb
	json   bool
	begun  time.Time
	name   int // width of the names
	ticker sync.WaitGroup
	stop   chan struct{}

	mu     sync.Mutex
	states []intake.State
	stay   []string // finished lines that were not written yet
	said   []time.Time
	broken error // the error of writing the output
}

// newProgress begins to show the items. Call end when they have ended.
func newProgress(k *kb, items []intake.Item, asJSON bool) *progress {
	p := &progress{kb: k, json: asJSON, begun: k.Now(), states: make([]intake.State, len(items)), said: make([]time.Time,
		len(items)), stop: make(chan struct{})}
	for i, item := range items {
		p.states[i] = intake.State{Item: item, Phase: intake.Waiting}
		p.said[i] = p.begun
		p.name = max(p.name, term.Width(term.Clean(item.Name)))
	}
	if k.Screen.Terminal && !asJSON {
		p.ticker.Go(p.draw)
	}
	return p
}

// draw redraws the bars until end is called.
func (p *progress) draw() {
	ticker := time.NewTicker(drawEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.flush(p.rows()...)
			p.mu.Unlock()
		}
	}
}

// flush writes the finished lines, and below them the rows.
func (p *progress) flush(rows ...string) {
	p.kb.Screen.Draw(p.stay, rows)
	p.stay = nil
}

// end writes the remaining lines and removes the bars.
func (p *progress) end() {
	close(p.stop)
	p.ticker.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		p.flush()
	}
}

// changed implements intake.Deps.Changed.
func (p *progress) changed(i int, now intake.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.states[i]
	p.states[i] = now
	if now.Item.Name != before.Item.Name { // the name of a page is known once it was fetched
		p.name = max(p.name, term.Width(term.Clean(now.Item.Name)))
	}
	switch {
	case now.Phase == intake.Done && p.json:
		p.sayJSON(now)
	case p.json:
	case now.Phase == intake.Done:
		p.stay = append(p.stay, p.doneLine(now))
		if !p.kb.Screen.Terminal {
			p.flush()
		}
	case !p.kb.Screen.Terminal:
		p.sayPlain(i, before, now)
	}
}

// sayPlain prints a line when an item begins to wait, or after quietFor.
func (p *progress) sayPlain(i int, before, now intake.State) {
	moment := p.kb.Now()
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
	p.flush()
}

// words describes what happens to an item, and how much is done. A negative share is unknown.
func (p *progress) words(s intake.State) (words string, share float64) {
	switch {
	case s.Wait != "":
		return s.Wait + ", waiting", -1
	case s.Phase == intake.Fetching:
		return "fetching", -1
	case s.Phase == intake.Uploading && s.Item.SizeBytes > 0:
		return fmt.Sprintf("uploading %s of %s", term.Bytes(float64(s.SentBytes)), term.Bytes(float64(s.Item.SizeBytes))),
			float64(s.SentBytes) / float64(s.Item.SizeBytes)
	case s.Phase == intake.Uploading:
		return "uploading", -1
	case s.Phase == intake.Ingesting && s.Source.GetStatus() == "processing":
		return stageWords(s.Source), float64(s.Source.GetProgress()) / 100
	case s.Phase == intake.Ingesting:
		return "queued", 0
	}
	return "waiting", -1
}

// rows formats the bars that fit on the screen, and a line with totals.
func (p *progress) rows() []string {
	columns, lines := p.kb.Screen.Size()
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
	total += fmt.Sprintf(", %.0f s. Ctrl-C stops", p.kb.Now().Sub(p.begun).Seconds())
	return append(rows, p.kb.Screen.Dim(term.Cut(total, columns-1)))
}

// row formats one item: spinner, name, bar, words. On a narrow screen the bar is left out first.
func (p *progress) row(s intake.State, columns int) string {
	const edge, most, least, wordsColumns = 4, 30, 8, 27
	name := min(p.name, int(float64(columns)*mostNames))
	words, share := p.words(s)
	percent := ""
	if share >= 0 {
		percent = fmt.Sprintf("%3.0f %%  ", share*100)
	}
	row := "  " + p.kb.Screen.Spin(p.kb.Now()) + " " + term.Pad(term.Clean(s.Item.Name), name) + "  "
	left := columns - 1 - edge - name - 2
	if bar := min(left-len("100 %  ")-wordsColumns-2, most); bar >= least && share >= 0 {
		row += p.kb.Screen.Bar(share, bar) + "  "
		left -= bar + 2
	}
	return row + term.Cut(percent+words, left)
}

// doneLine formats the outcome of an item.
func (p *progress) doneLine(s intake.State) string {
	screen := p.kb.Screen
	name := min(p.name, int(float64(screen.Columns())*mostNames))
	if !screen.Terminal {
		name = p.name
	}
	mark, words := screen.Good("✓"), []string(nil)
	switch s.Outcome {
	case intake.Ready:
		words = []string{holdsWords(s.Source), s.Source.GetId(), "(" + term.Took(s.Ended.Sub(s.Began)) + ")"}
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
		words = words[:len(words)-1] // kb ls shows it too
	}
	for i := range words[1:] {
		words[i+1] = screen.Dim(words[i+1])
	}
	return "  " + mark + " " + term.Pad(term.Clean(s.Item.Name), name) + "  " + strings.Join(words, "  ")
}

// sayJSON prints the outcome of an item as JSON.
func (p *progress) sayJSON(s intake.State) {
	line := result{Given: s.Item.Given, Name: s.Item.Name, Outcome: s.Outcome}
	if s.Source != nil {
		if line.Source, p.broken = stablejson.Marshal(s.Source); p.broken != nil {
			return
		}
	}
	if s.Err != nil {
		code, words, advice := p.kb.failureOf(s)
		line.Error = &resultError{code, words, advice}
	}
	p.broken = writeJSON(p.kb.Screen.Out, line)
}

// result is the JSON of an item.
type result struct {
	Given   string          `json:"given"`
	Name    string          `json:"name"`
	Outcome intake.Outcome  `json:"outcome"`
	Source  json.RawMessage `json:"source"`
	Error   *resultError    `json:"error"`
}

type resultError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Advice  string `json:"advice"`
}

// writeJSON writes one line of JSON without escaping <, > and &.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
