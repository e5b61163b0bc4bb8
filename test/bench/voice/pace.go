package main

import "time"

const (
	// lead is how far ahead of real time the service sends sound, pieceLength the length of a piece.
	// Source: package voice.
	lead        = 400 * time.Millisecond
	pieceLength = 40 * time.Millisecond
)

// pace judges when the sound of answers came. A piece is allowed as soon as what was sent before it
// is not more than lead less pieceLength ahead of being played; its delay is how much later it
// came.
type pace struct {
	// silent is set before the first piece of an answer, which has no delay.
	silent bool
	// until is when what came will have been played.
	until time.Time
	// began is when the first piece came.
	began time.Time
	// delays are those of all pieces behind a first one; late counts pieces that came when the
	// client had nothing to play.
	delays []time.Duration
	late   int
}

// took takes a piece of sound.
func (p *pace) took(length time.Duration, now time.Time) {
	if p.silent {
		p.silent, p.began, p.until = false, now, now.Add(length)
		return
	}
	allowed := p.until.Add(pieceLength - lead)
	if allowed.Before(p.began) {
		allowed = p.began
	}
	p.delays = append(p.delays, max(0, now.Sub(allowed)))
	if now.After(p.until) {
		p.late++
		p.until = now
	}
	p.until = p.until.Add(length)
}
