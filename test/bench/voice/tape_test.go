package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/audio"
)

// soundOf is so much sound of the agent.
func soundOf(length time.Duration) []int16 {
	return make([]int16, audio.Samples(length, audio.Default.RateHz))
}

// TestPlayback has two answers: pieces that come together are played one after the other, and what
// comes when nothing is left to play begins anew.
func TestPlayback(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	began := time.Unix(0, 0)
	at := func(since time.Duration) time.Time { return began.Add(since) }
	r := recording{sound: []piece{
		{at(-10 * ms), soundOf(5 * ms)},
		{at(0), soundOf(40 * ms)},
		{at(0), soundOf(40 * ms)},
		{at(50 * ms), soundOf(40 * ms)},
		{at(200 * ms), soundOf(40 * ms)},
	}}
	all := r.playback(began)
	if len(all) != 2 || !all[0].end().Equal(at(120*ms)) || !all[1].began.Equal(at(200*ms)) {
		t.Fatalf("%d answers, the first until %s", len(all), all[0].end().Sub(began))
	}
	heard, dropped := all[0].until(at(100 * ms))
	if !heard.end().Equal(at(100*ms)) || !dropped.began.Equal(at(100*ms)) || !dropped.end().Equal(at(120*ms)) {
		t.Errorf("heard until %s, dropped until %s", heard.end().Sub(began), dropped.end().Sub(began))
	}
	var got [][2]time.Duration
	for _, l := range all[0].ahead(at(100 * ms)) {
		got = append(got, [2]time.Duration{l.at.Sub(began), l.much})
	}
	want := [][2]time.Duration{
		{0, 0}, {0, 40 * ms}, {0, 40 * ms}, {0, 80 * ms}, {50 * ms, 30 * ms}, {50 * ms, 70 * ms}, {100 * ms, 20 * ms}, {100 * ms, 0},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("sound ahead (-got +want):\n%s", diff)
	}
}
