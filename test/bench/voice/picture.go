package main

import (
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"
)

// picture is a drawing of a part of a call over time: events as steps, one row each, and below them
// lanes of what goes on at the same time.
type picture struct {
	title, description string
	// zero is the time from which others are counted, which the axis calls zeroName.
	zero     time.Time
	zeroName string
	from, to time.Duration
	rows     []event
	lanes    []lane
	// notes are lines below the axis.
	notes []string
}

// lane is one thing that goes on: sound, work, words, or amounts of sound, of which lead fills it.
type lane struct {
	name, unit string
	waves      []wave
	bars       []bar
	words      []event
	ahead      [][]level
}

// wave is sound from a time on, in steps of frameLength; style is a class of the drawing.
type wave struct {
	at     time.Time
	levels []float64
	style  string
}

// bar is work from a time to another; label is written behind it.
type bar struct {
	from, to time.Time
	label    string
}

const (
	pictureWidth = 1000
	plotLeft     = 150
	plotRight    = 985
	rowHeight    = 19
	laneHeight   = 42
	// letterWidth is about that of a letter, rather more.
	letterWidth = 6.6
)

// style has the colours for light and dark pages.
const style = `  <style>
    .page { fill: #ffffff; stroke: #d5dae1; }
    .head { fill: #1b1f24; font-size: 15px; font-weight: 600; }
    .text, .name { fill: #1b1f24; font-size: 12px; }
    .name { font-weight: 600; }
    .small, .ms { fill: #4c5664; font-size: 12px; }
    .halo { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }
    .grid { stroke: #e3e7ec; }
    .zero { stroke: #b42318; }
    .leader { stroke: #b4bdc8; }
    .dot { fill: #3567b8; }
    .fact { fill: #b42318; }
    .user { fill: #3c8350; }
    .agent { fill: #3567b8; }
    .dropped { fill: #b4bdc8; }
    .bar { fill: #d99a2b; }
    .ahead { fill: #cfe0fb; stroke: #3567b8; }
    .tick { stroke: #d99a2b; }
    .mid { text-anchor: middle; }
    .end { text-anchor: end; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0f141a; stroke: #313a46; }
      .head, .text, .name { fill: #e8ecf1; }
      .small, .ms { fill: #aab4c1; }
      .halo { stroke: #0f141a; }
      .grid { stroke: #222a34; }
      .zero { stroke: #f97066; }
      .leader { stroke: #465160; }
      .dot { fill: #6f9bea; }
      .fact { fill: #f97066; }
      .user { fill: #6bb884; }
      .agent { fill: #6f9bea; }
      .dropped { fill: #465160; }
      .ahead { fill: #16263f; stroke: #6f9bea; }
    }
  </style>
`

// drawing is a picture that is being drawn.
type drawing struct {
	strings.Builder
	picture
	rowsTop, lanesTop, bottom int
}

// svg draws the picture.
func (p picture) svg() string {
	d := &drawing{picture: p, rowsTop: 72}
	d.lanesTop = d.rowsTop + len(p.rows)*rowHeight + 6
	d.bottom = d.lanesTop + len(p.lanes)*laneHeight + 6
	height := d.bottom + 48 + len(p.notes)*rowHeight
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc" `+
		`font-family="ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif">`+"\n",
		pictureWidth, height)
	d.printf("  <title id=\"title\">%s</title>\n  <desc id=\"desc\">%s</desc>\n", html.EscapeString(p.title), html.EscapeString(p.description))
	d.WriteString(style)
	d.printf("  <rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n", pictureWidth-1, height-1)
	d.text("head", 16, 28, p.title)
	d.text("small", 16, 48, "Recorded from a running service. Times are in ms from "+p.zeroName+".")
	d.grid()
	for i, l := range p.lanes {
		d.lane(l, d.lanesTop+i*laneHeight)
	}
	d.leaders()
	for i, e := range p.rows {
		d.row(e, d.rowsTop+i*rowHeight)
	}
	for i, note := range p.notes {
		d.text("text", 16, d.bottom+48+i*rowHeight, note)
	}
	d.WriteString("</svg>\n")
	return d.String()
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *drawing) text(class string, x float64, y int, text string) {
	d.printf("  <text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n", class, x, y, html.EscapeString(text))
}

// x is where a time is.
func (d *drawing) x(at time.Time) float64 { return d.xOf(at.Sub(d.zero)) }

func (d *drawing) xOf(since time.Duration) float64 {
	share := float64(since-d.from) / float64(d.to-d.from)
	return plotLeft + share*(plotRight-plotLeft)
}

// shows reports whether a time is within the picture.
func (d *drawing) shows(at time.Time) bool {
	since := at.Sub(d.zero)
	return since >= d.from && since <= d.to
}

// inside is the nearest time within the picture.
func (d *drawing) inside(at time.Time) time.Time {
	return d.zero.Add(min(max(at.Sub(d.zero), d.from), d.to))
}

// grid draws the axis, with a line every 250 ms and a number every 500.
func (d *drawing) grid() {
	const step = 250 * time.Millisecond
	d.text("small", 16, d.bottom+16, "ms")
	for since := d.from.Truncate(step); since <= d.to; since += step {
		x := d.xOf(since)
		if since < d.from {
			continue
		}
		class := "grid"
		if since == 0 {
			class = "zero"
		}
		d.printf("  <path class=\"%s\" d=\"M%.1f %dV%d\"/>\n", class, x, d.lanesTop, d.bottom)
		if since%(2*step) == 0 && x < plotRight-10 {
			d.text("small mid", x, d.bottom+16, number(since))
		}
	}
}

// number is a time in ms as people write it.
func number(d time.Duration) string {
	ms := d.Round(time.Millisecond).Milliseconds()
	if ms < 0 {
		return fmt.Sprintf("−%d", -ms)
	}
	return fmt.Sprint(ms)
}

// leaders draws a line from each step down to the axis.
func (d *drawing) leaders() {
	for i, e := range d.rows {
		d.printf("  <path class=\"leader\" d=\"M%.1f %dV%d\" stroke-dasharray=\"2 3\"/>\n", d.x(e.at), d.rowsTop+i*rowHeight, d.bottom)
	}
}

// row draws a step, with its label on the side that has room.
func (d *drawing) row(e event, y int) {
	x, class := d.x(e.at), "dot"
	if !strings.Contains(e.name, ".") { // it is no event of the socket
		class = "fact"
	}
	d.printf("  <circle class=\"%s\" cx=\"%.1f\" cy=\"%d\" r=\"4\"/>\n", class, x, y)
	ms := number(e.at.Sub(d.zero))
	width := letterWidth * float64(utf8.RuneCountInString(ms+e.name+e.text)+4)
	at, anchor := x+9, ""
	if at+width > plotRight {
		at, anchor = x-9, " end"
	}
	d.printf("  <text class=\"halo%s\" x=\"%.1f\" y=\"%d\"><tspan class=\"ms\">%s</tspan><tspan class=\"name\" dx=\"4\">%s</tspan>"+
		"<tspan class=\"ms\" dx=\"4\">%s</tspan></text>\n", anchor, at, y+4, ms, html.EscapeString(e.name), html.EscapeString(e.text))
}

// lane draws what goes on in a lane whose top is at y.
func (d *drawing) lane(l lane, y int) {
	base := y + laneHeight - 6
	d.printf("  <path class=\"grid\" d=\"M16 %dH%d\"/>\n", y, plotRight)
	d.text("name", 16, y+18, l.name)
	d.text("small", 16, y+33, l.unit)
	for _, w := range l.waves {
		d.wave(w, float64(y)+laneHeight/2.0)
	}
	for _, points := range l.ahead {
		d.level(points, base)
	}
	for i, b := range l.bars {
		from, to := d.inside(b.from), d.inside(b.to)
		if !from.Before(to) {
			continue
		}
		d.printf("  <rect class=\"bar\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" rx=\"2\"/>\n", d.x(from), y+14, d.x(to)-d.x(from))
		end := d.x(to) + 6 + letterWidth*float64(utf8.RuneCountInString(b.label))
		if end <= plotRight && (i+1 == len(l.bars) || end < d.x(l.bars[i+1].from)) {
			d.text("small halo", d.x(to)+6, y+25, b.label)
		}
	}
	d.words(l.words, y)
}

// wave draws sound around the middle of a lane.
func (d *drawing) wave(w wave, middle float64) {
	var above, below []string
	for i, level := range w.levels {
		at := w.at.Add(time.Duration(i)*frameLength + frameLength/2)
		if !d.shows(at) {
			continue
		}
		x, high := d.x(at), max(0.6, level*(laneHeight/2.0-4))
		above = append(above, fmt.Sprintf("%.1f %.1f", x, middle-high))
		below = append([]string{fmt.Sprintf("%.1f %.1f", x, middle+high)}, below...)
	}
	if len(above) > 0 {
		d.printf("  <path class=\"%s\" d=\"M%sZ\"/>\n", w.style, strings.Join(append(above, below...), "L"))
	}
}

// level draws an amount over time, upwards from y.
func (d *drawing) level(points []level, y int) {
	var line []string
	var left, right float64
	for _, p := range points {
		if !d.shows(p.at) {
			continue
		}
		if right = d.x(p.at); len(line) == 0 {
			left = right
		}
		line = append(line, fmt.Sprintf("%.1f %.1f", right, float64(y)-(laneHeight-12)*float64(p.much)/float64(lead)))
	}
	if len(line) > 0 {
		d.printf("  <path class=\"ahead\" d=\"M%.1f %dL%sL%.1f %dZ\"/>\n", left, y, strings.Join(line, "L"), right, y)
	}
}

// words draws a tick for each result of a transcriber, and below it the words that it adds, behind
// those before.
func (d *drawing) words(words []event, y int) {
	before, free := "", 0.0
	for _, e := range words {
		if !d.shows(e.at) {
			continue
		}
		d.printf("  <path class=\"tick\" d=\"M%.1f %dV%d\" stroke-width=\"2\"/>\n", d.x(e.at), y+6, y+18)
		added := strings.Trim(strings.TrimPrefix(e.text, before), " ?")
		before = e.text
		if added != "" {
			x := max(d.x(e.at)-1, free)
			d.text("small halo", x, y+32, added)
			free = x + letterWidth*float64(utf8.RuneCountInString(added)) + 3
		}
	}
}
