package voice

import (
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/langtag"
)

// agreeing is how many utterances in a row must be in another language before the call goes on in
// it: transcribers take a name or a short word for another language.
const agreeing = 2

// noteLanguage takes the language of what the user has said; empty: the transcriber names none. mu
// is held.
func (c *Call) noteLanguage(tag string) {
	spoken := langtag.Base(tag)
	if spoken == "" || spoken == langtag.Base(c.language) {
		c.heardLanguage, c.heardTimes = "", 0
		return
	}
	if spoken != c.heardLanguage {
		c.heardLanguage, c.heardTimes = spoken, 0
	}
	if c.heardTimes++; c.heardTimes < agreeing {
		return
	}
	c.heardLanguage, c.heardTimes = "", 0
	c.commands = append(c.commands, live.SwitchLanguage{Tag: tag})
	c.setLanguage(tag)
}

// setLanguage has the call heard and spoken in another language. mu is held.
func (c *Call) setLanguage(tag string) {
	if tag == c.language {
		return
	}
	c.language = tag
	c.choose()
}

// configured takes the session's configuration in force. mu is held.
func (c *Call) configured(e live.Configured) {
	before := c.session.Config.Voice
	c.session = e.Session
	after := c.session.Config.Voice
	switch {
	case e.Session.Language != "" && e.Session.Language != c.language:
		c.setLanguage(e.Session.Language)
	case string(before.TTS) != string(after.TTS), string(before.STT) != string(after.STT):
		c.choose()
	}
}

// choose chooses again what hears and speaks. mu is held.
func (c *Call) choose() {
	if c.over {
		return
	}
	ref, voice, language := c.session.Ref(), c.session.Config.Voice, c.language
	c.s.workers.Go(func() {
		stack, err := c.s.deps.StackFunc(c.life, ref, voice, language)
		c.mu.Lock()
		defer c.unlock(true)
		if err != nil || c.over || c.language != language { // what is there goes on
			stack.close()
			return
		}
		c.stack.close()
		c.stack = stack
		c.setHearing()
	})
}
