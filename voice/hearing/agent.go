package hearing

import (
	"slices"

	"parlance.dev/parlance/voice/hearing/utterance"
)

type agentPhase int

const (
	agentSilent agentPhase = iota
	agentThinking
	agentPlaying
	agentPaused
)

// agent is what the agent is saying.
type agent struct {
	phase agentPhase
	endMS int  // when the last piece has been played
	done  bool // no more pieces come
	owed  bool // an utterance was committed while the agent spoke, and is to be answered
	echo  echo
}

func newAgent() agent {
	return agent{echo: echo{couplingDB: unknownCouplingDB}}
}

// Said is a piece of the agent's text.
type Said struct {
	Text string
	// FromMS and ToMS are when it is played, in audio time, as well as it is known.
	FromMS, ToMS int
	// Protected pieces are not interrupted: what the user says meanwhile is answered after them.
	Protected bool
}

// AgentSaid tells what the agent's audio says, sentence by sentence, when it is sent. A question
// for a value (an e-mail address, a number, a date) makes the next utterance wait for all of it.
func (t *Taker) AgentSaid(said Said) {
	t.agent.echo.add(said, t.NowMS())
	if value := t.rules.Asked(said.Text); value != utterance.None {
		t.asked, t.digits = value, 0
	}
}

// AgentPlaying tells that a piece of the agent's audio is played from one audio time to another:
// call it for each piece that is sent. levelDB is the level of the piece (vad.LevelDB).
func (t *Taker) AgentPlaying(fromMS, toMS int, levelDB float64) {
	a := &t.agent
	if a.phase != agentPaused {
		a.phase = agentPlaying
	}
	a.owed = a.owed && !a.done // else this is the answer that was owed
	a.endMS, a.done = max(a.endMS, toMS), false
	a.echo.play(piece{fromMS, toMS, levelDB})
}

// AgentDone tells that the agent's answer is complete, or that there is none: when what was sent
// has been played, the user is listened to.
func (t *Taker) AgentDone() {
	t.agent.done = true
	if t.agent.phase == agentThinking {
		t.agent.phase = agentSilent
		t.idleFromMS = t.NowMS()
	}
}

// EchoDB is the level up to which what is heard now may be the agent's echo.
func (t *Taker) EchoDB() float64 { return t.agent.echo.expectedDB(t.NowMS()) }

// Echoes reports whether the words of an utterance, which began at fromMS and was committed before
// they were known, are the agent's own. If so, its echo is expected to be as loud from now on.
func (t *Taker) Echoes(words string, fromMS int, levelDB float64) bool {
	if !utterance.Echo(words, t.agent.echo.around(fromMS, t.NowMS())) {
		return false
	}
	t.agent.echo.seen(t.NowMS(), levelDB)
	return true
}

// over ends a complete answer when it has been played.
func (a *agent) over(nowMS int) bool {
	if a.phase != agentPlaying || !a.done || nowMS < a.endMS {
		return false
	}
	a.phase = agentSilent
	if a.owed {
		a.phase, a.owed = agentThinking, false
	}
	return true
}

// owe makes the agent answer, now or after what it is saying.
func (a *agent) owe() {
	if a.phase == agentPlaying {
		a.owed = true
		return
	}
	a.phase = agentThinking
}

// cut ends what the agent is saying.
func (a *agent) cut() {
	a.phase, a.done, a.endMS = agentSilent, true, 0
	a.echo.cut()
}

// protected reports whether the agent says something that is not interrupted.
func (a *agent) protected(nowMS int) bool {
	return slices.ContainsFunc(a.echo.texts, func(said Said) bool {
		return said.Protected && said.FromMS <= nowMS && nowMS < said.ToMS
	})
}
