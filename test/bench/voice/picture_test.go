package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestPicture draws every kind of thing, within the picture and outside of it: the drawing is XML,
// and shows what is within.
func TestPicture(t *testing.T) {
	t.Parallel()
	zero := time.Unix(0, 0)
	at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	drawn := picture{
		title: "A <turn>", description: "Said & heard", zero: zero, zeroName: "the end", from: -time.Second, to: time.Second,
		rows: []event{{at(-500), "the user begins", ""}, {at(990), "response.done", "“completed & <whole>”"}},
		lanes: []lane{{
			name:  "All",
			waves: []wave{{at(-1500), []float64{0, 1, 0.5}, "user"}, {at(0), []float64{0, 1, 0.5}, "agent"}},
			bars:  []bar{{at(-3000), at(-2000), "before"}, {at(100), at(300), "200 ms"}, {at(2000), at(3000), "after"}},
			words: []event{
				{at(0), "words", "One"}, {at(10), "words", "One two"}, {at(200), "words", "One two three"}, {at(5000), "words", "four"},
			},
			ahead: [][]level{{{at(0), lead}, {at(400), 0}}, {{at(4000), lead}}},
		}},
		notes: []string{"Heard: “A & B”"},
	}.svg()
	for decoder := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, drawn)
		}
	}
	for _, shown := range []string{
		">−500<", ">990<", ">response.done<", ">200 ms<", ">One<", ">two<", ">three<", "<title id=\"title\">A &lt;turn&gt;<",
	} {
		if !strings.Contains(drawn, shown) {
			t.Errorf("there is no %s", shown)
		}
	}
	for _, hidden := range []string{"before", "after", "four", "NaN"} {
		if strings.Contains(drawn, hidden) {
			t.Errorf("there is %s", hidden)
		}
	}
}
