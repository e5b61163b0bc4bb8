package hearing

import (
	"slices"

	"parlance.dev/parlance/voice/hearing/utterance"
)

// openLikelyMS is the silence after which words that say nothing about their end have probably
// ended.
const openLikelyMS = 300

// finishedPatienceMS bounds how much longer a finished sentence of a slow speaker is waited for.
const finishedPatienceMS = 300

// end decides whether a silent user has finished.
func (t *Taker) end() {
	u := &t.user
	silence := t.NowMS() - u.speechEndMS
	if utterance.Echo(u.words, t.agent.echo.around(u.speechMS, t.NowMS())) {
		t.dismiss(Echo)
		return
	}
	if u.withheld && t.rules.Acknowledgement(u.words) {
		t.dismiss(Acknowledgement)
		return
	}
	t.askModel()
	u.vote.read()
	need, reason := t.silenceNeeded()
	if !u.likely && silence < need && (reason == ByWords || reason == ByModel || reason == BySilence && silence >= openLikelyMS) {
		u.likely = true
		t.emit(Event{Kind: EndLikely, FromMS: u.fromMS, ToMS: t.NowMS()})
	}
	if silence < need || u.run > 0 { // the user may be going on
		return
	}
	if t.settings.Streaming && u.words == "" {
		if u.final || silence >= wordsWithinMS {
			t.dismiss(NoWords)
		}
		return
	}
	t.commit(reason)
}

// askModel asks the model once in each pause.
func (t *Taker) askModel() {
	u := &t.user
	if t.model == nil || u.vote.asked {
		return
	}
	spoken := (t.NowMS() - u.fromMS) * SampleRate / 1000
	from := len(t.sound) - min(spoken, modelSamples, len(t.sound))
	u.vote = vote{asked: true, answer: t.model.Ask(slices.Clone(t.sound[from:]), u.words)}
}

// silenceNeeded is the silence in ms after which the utterance ends, and why it ends then.
func (t *Taker) silenceNeeded() (int, Reason) {
	e := t.settings.endpointing()
	patience := t.speaker.patienceMS()
	vote := t.user.vote
	if vote.known && vote.probability >= e.vote {
		return t.settings.bounded(endingMS), ByModel
	}
	need, reason := e.open+patience, BySilence
	switch t.ending() {
	case utterance.Finished:
		need, reason = e.finished+min(patience/2, finishedPatienceMS), ByWords
	case utterance.Unfinished:
		need, reason = e.unfinished+patience, ByTimeout
	case utterance.Partial:
		need, reason = e.value, ByTimeout
	case utterance.Open:
	}
	if vote.known {
		need, reason = max(need, e.unfinished), ByTimeout
	}
	return t.settings.bounded(need), reason
}

// ending is what the words say about the end.
func (t *Taker) ending() utterance.Ending {
	u := &t.user
	if u.words == "" {
		return utterance.Open
	}
	ending := t.rules.Ending(u.words, t.asked, t.digits)
	if ending == utterance.Finished && u.wordsMS < u.speechEndMS {
		ending = utterance.Open // the user went on, and the words of that are still to come
	}
	if ending == utterance.Open && t.settings.Punctuated {
		return utterance.Unfinished // the mark of the end is missing
	}
	return ending
}

// commit ends the utterance.
func (t *Taker) commit(reason Reason) {
	const tailMS = 300
	u := t.user
	if u.withheld {
		t.emitStarted(true)
	}
	t.emit(Event{Kind: SpeechStopped, FromMS: u.fromMS, ToMS: u.speechEndMS, Quiet: u.withheld})
	end := min(t.NowMS(), u.speechEndMS+tailMS)
	t.emit(Event{
		Kind: Commit, FromMS: u.fromMS, ToMS: end, SpeechMS: u.speechFrames * frameMS, Reason: reason, Joined: u.joined, JoinedMS: u.joinedMS,
	})
	t.speaker.learnLevel(t.NowMS(), u.loudness.meanDB())
	from := u.fromMS
	if u.joined {
		from = u.joinedMS
	}
	t.committed(from, u.speechEndMS, end)
}

// committed is what follows from an utterance however it ended.
func (t *Taker) committed(fromMS, speechEndMS, toMS int) {
	t.user, t.onset = user{}, onset{}
	t.last.fromMS, t.last.speechEndMS, t.heardToMS = fromMS, speechEndMS, toMS
	t.manualSpeech, t.idleCount, t.idleFromMS = 0, 0, t.NowMS()
	t.asked, t.digits = utterance.None, 0
	if t.settings.CreateResponse {
		t.agent.owe()
	}
}

// dismiss forgets what was taken for an utterance.
func (t *Taker) dismiss(reason Reason) {
	u := t.user
	t.user, t.onset, t.heardToMS = user{}, onset{}, u.speechEndMS
	t.emit(Event{
		Kind: FalseStart, FromMS: u.fromMS, ToMS: t.NowMS(), SpeechMS: u.speechFrames * frameMS, Reason: reason,
		Joined: u.joined, JoinedMS: u.joinedMS,
	})
	if reason == Echo {
		t.agent.echo.seen(t.NowMS(), u.loudness.meanDB())
	}
	if t.agent.phase == agentPaused {
		t.agent.phase = agentPlaying
		t.emit(Event{Kind: Resume, FromMS: u.speechMS, ToMS: t.NowMS()})
	}
	if u.joined {
		t.agent.owe() // the answer to the utterance before goes on
	}
	t.idleFromMS = t.NowMS()
}
