package voice

import "parlance.dev/parlance/voice/hearing"

// samplesPerMS is the number of samples in a millisecond of what is heard.
const samplesPerMS = hearing.SampleRate / 1000

// track is the newest of what was heard, at hearing's rate.
type track struct {
	samples []int16
	// first is the place of samples[0] in all that was heard, and committedTo the end of the last
	// utterance.
	first, committedTo int
}

// append adds samples. At least the newest keep of them stay.
func (t *track) append(samples []int16, keep int) {
	t.samples = append(t.samples, samples...)
	if extra := len(t.samples) - keep; extra > keep { // not each time
		kept := copy(t.samples, t.samples[extra:])
		t.samples = t.samples[:kept]
		t.first += extra
	}
}

// since returns what was heard from an audio time on, as far back as it is kept.
func (t *track) since(fromMS int) []int16 {
	from := min(max(fromMS*samplesPerMS-t.first, 0), len(t.samples))
	return t.samples[from:]
}

// end is the number of samples that were heard.
func (t *track) end() int { return t.first + len(t.samples) }

// uncommitted is the number of samples since the last utterance.
func (t *track) uncommitted() int { return t.end() - t.committedTo }

// commit notes that an utterance ends here.
func (t *track) commit() { t.committedTo = t.end() }
