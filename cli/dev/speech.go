package dev

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/provider/model/discover"
)

// chooseSpeech has a server on this machine transcribe when none is configured, and notes one that
// speaks: which of its voices to use is not known.
func (d *dev) chooseSpeech(found []discover.Found) {
	at := slices.IndexFunc(found, func(f discover.Found) bool { return len(f.Hearing) > 0 })
	if at >= 0 && !d.config.STT.IsSet() {
		d.config.STT.BaseURL, d.config.STT.Name = found[at].BaseURL, cmp.Or(d.config.STT.Name, found[at].Hearing[0])
		d.heard = fmt.Sprintf("%s is running on this machine; --speech none refuses it", found[at].Product)
	}
	at = slices.IndexFunc(found, func(f discover.Found) bool { return len(f.Speaking) > 0 })
	if at >= 0 && !d.config.TTS.IsSet() {
		d.spoken = &found[at]
	}
}

// speechWords are the lines of the banner on what hears and what speaks.
func (d *dev) speechWords(opened *app.App) (hears, speaks []string) {
	hears = []string{opened.Hears}
	switch {
	case d.heard != "":
		hears[0] += " (" + d.heard + ")"
	case !d.config.STT.IsSet():
		hears = append(hears, "change it: --stt-base-url URL --stt-name NAME (any OpenAI-compatible /v1/audio/transcriptions), or OPENAI_API_KEY")
	}
	speaks = []string{opened.Speaks}
	if d.spoken == nil {
		return hears, speaks
	}
	name, voice := d.spoken.Speaking[0], "VOICE"
	if strings.Contains(strings.ToLower(name), "kokoro") {
		voice = "af_heart"
	}
	return hears, append(speaks,
		fmt.Sprintf("%s on this machine serves %s, which sounds better: PARLANCE_TTS_BASE_URL=%s PARLANCE_TTS_NAME=%s PARLANCE_TTS_VOICE=%s",
			d.spoken.Product, name, d.spoken.BaseURL, shellQuote(name), voice))
}
