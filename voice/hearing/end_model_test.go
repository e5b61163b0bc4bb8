package hearing_test

import (
	"fmt"
	"slices"
	"testing"

	"parlance.dev/parlance/voice/hearing"
)

// endModel keeps what it was asked. Tests answer for it.
type endModel struct {
	asked   []string
	audio   [][]int16
	answers []chan float32
	busy    bool
}

func (m *endModel) Ask(audio []int16, words string) <-chan float32 {
	m.asked = append(m.asked, fmt.Sprintf("%d %s", len(audio), words))
	m.audio = append(m.audio, audio)
	if m.busy {
		return nil
	}
	answer := make(chan float32, 1)
	m.answers = append(m.answers, answer)
	return answer
}

func newCallWithModel(t *testing.T, settings hearing.Settings) (*call, *endModel) {
	t.Helper()
	model := &endModel{}
	return &call{t: t, taker: hearing.New(settings, loudDetector{}, model)}, model
}

// TestEndModel: the answer decides from the frame on at which it has come.
func TestEndModel(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		vote    float32
		afterMS int // how long the user has been silent when the answer comes
		want    int // the silence before the commit
		reason  hearing.Reason
	}{
		"finished":             {0.9, 230, 260, hearing.ByModel},
		"finished, and late":   {0.9, 400, 430, hearing.ByModel},
		"goes on":              {0.1, 230, 1600, hearing.ByTimeout},
		"goes on, and late":    {0.1, 400, 1600, hearing.ByTimeout},
		"later than the rules": {0.1, 700, 500, hearing.BySilence},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, model := newCallWithModel(t, hearing.Defaults())
			c.silence(20_000).speak(1024)
			end := c.taker.NowMS()
			c.silence(row.afterMS)
			if len(model.answers) != 1 {
				t.Fatalf("the model was asked %d times after %d ms of silence", len(model.answers), row.afterMS)
			}
			model.answers[0] <- row.vote
			c.silence(2500)
			commit := c.only(hearing.Commit)
			near(t, "the silence before the commit", commit.AtMS-end, row.want)
			if commit.Reason != row.reason {
				t.Errorf("the reason is %s", commit.Reason)
			}
			if len(model.asked) != 1 {
				t.Errorf("the model was asked %q", model.asked)
			}
		})
	}
}

// TestEndModelWithoutAnswer: the rules decide as if there were no model.
func TestEndModelWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"fails": false, "has too much to do": true} {
		c, model := newCallWithModel(t, hearing.Defaults())
		model.busy = busy
		c.silence(1000).speak(1024)
		end := c.taker.NowMS()
		c.silence(2500)
		commit := c.only(hearing.Commit)
		if near(t, name+": the silence before the commit", commit.AtMS-end, 500); commit.Reason != hearing.BySilence {
			t.Errorf("%s: the reason is %s", name, commit.Reason)
		}
		if len(model.asked) != 1 {
			t.Errorf("%s: the model was asked %q", name, model.asked)
		}
	}
}

// TestEndModelGoingOn: an answer about a pause says nothing about the next one.
func TestEndModelGoingOn(t *testing.T) {
	t.Parallel()
	settings := hearing.Defaults()
	settings.SilenceMS = 800
	c, model := newCallWithModel(t, settings)
	c.silence(1000).speak(1024).silence(320)
	c.speak(512)
	if len(model.answers) != 1 {
		t.Fatalf("the model was asked %d times in the first pause", len(model.answers))
	}
	model.answers[0] <- 0.9
	end := c.taker.NowMS()
	c.silence(2500)
	commit := c.only(hearing.Commit)
	if near(t, "the silence before the commit", commit.AtMS-end, 800); commit.Reason != hearing.BySilence {
		t.Errorf("the reason is %s", commit.Reason)
	}
	if len(model.asked) != 2 {
		t.Errorf("the model was asked %q", model.asked)
	}
}

// TestEndModelAudio: the model hears the utterance with its prefix and its pause, and nothing from
// before it; of a long one the last 8 s. What it was given does not change.
func TestEndModelAudio(t *testing.T) {
	t.Parallel()
	settings := hearing.Defaults()
	settings.Streaming = true
	c, model := newCallWithModel(t, settings)
	c.silence(20_000).speak(1024).words("I live").silence(320)
	kept := slices.Clone(model.audio[0])
	c.speak(12_000).words("I live in the").silence(320)

	frame := hearing.SampleRate * 32 / 1000
	prefix, spoken := settings.PrefixMS*hearing.SampleRate/1000, 1024*hearing.SampleRate/1000
	if rest := len(kept) - prefix - spoken; rest < 6*frame || rest > 8*frame {
		t.Errorf("the model heard %d samples, of which %d are a pause of 200 ms", len(kept), rest)
	}
	if quiet := slices.IndexFunc(kept, func(s int16) bool { return s != 0 }); quiet < prefix-frame || quiet > prefix+frame {
		t.Errorf("the model heard %d samples before the speech, want about %d", quiet, prefix)
	}
	if !slices.Equal(kept, model.audio[0]) {
		t.Error("the audio that the model was given has changed")
	}
	if want := fmt.Sprintf("%d I live in the", 8*hearing.SampleRate); len(model.asked) != 2 || model.asked[1] != want {
		t.Errorf("the model was asked %q, want %q last", model.asked, want)
	}
}
