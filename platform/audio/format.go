package audio

import (
	"strconv"
	"time"
)

// Encoding says how a sample is written as bytes.
type Encoding uint8

const (
	// PCM16 is two bytes a sample: signed, the low byte first.
	PCM16 Encoding = iota + 1
	// MuLaw is G.711 µ-law, one byte a sample: telephony in North America and Japan.
	MuLaw
	// ALaw is G.711 A-law, one byte a sample: telephony everywhere else.
	ALaw
)

// Format is how one channel of sound is written as bytes. The zero Format is none.
type Format struct {
	Encoding Encoding
	// RateHz is the number of samples a second.
	RateHz int
}

// Default is what a client and an agent use when nothing else was agreed on.
var Default = Format{Encoding: PCM16, RateHz: 24000}

// formats lists every known format with the names that protocols give it. An empty name means that
// the protocol does not have the format.
var formats = []struct {
	format     Format
	api        string // of Parlance's API, in the settings of an agent
	openAIType string // of OpenAI's Realtime protocol, which says the rate beside it
	elevenLabs string // of ElevenLabs' protocol
}{
	{Format{PCM16, 8000}, "", "", "pcm_8000"},
	{Format{PCM16, 16000}, "pcm16_16000", openAIPCM, "pcm_16000"},
	{Format{PCM16, 22050}, "", "", "pcm_22050"},
	{Format{PCM16, 24000}, "pcm16_24000", openAIPCM, "pcm_24000"},
	{Format{PCM16, 44100}, "", "", "pcm_44100"},
	{Format{PCM16, 48000}, "", "", "pcm_48000"},
	{Format{MuLaw, 8000}, "g711_ulaw", "audio/pcmu", "ulaw_8000"},
	{Format{ALaw, 8000}, "g711_alaw", "audio/pcma", "alaw_8000"},
}

// openAIPCM is the only type of OpenAI's that has more than one rate. OpenAI itself knows 24,000 Hz
// only; 16,000 Hz is Parlance's addition.
const openAIPCM = "audio/pcm"

// Parse finds a format by its name in Parlance's API. "pcm16", its name in the beta of OpenAI's
// protocol, and "" are Default. It reports false for a name that is not known.
func Parse(name string) (Format, bool) {
	if name == "" || name == "pcm16" {
		return Default, true
	}
	for _, row := range formats {
		if row.api == name {
			return row.format, true
		}
	}
	return Format{}, false
}

// ParseOpenAI finds a format by its type and rate in OpenAI's Realtime protocol, such as
// "audio/pcm" and 24000. A rate of 0 was left out: of "audio/pcm" it is Default's. The types of
// G.711 have one rate, and no other is accepted.
func ParseOpenAI(formatType string, rateHz int) (Format, bool) {
	for _, row := range formats {
		if row.openAIType == "" || row.openAIType != formatType {
			continue
		}
		if row.format.RateHz == rateHz || rateHz == 0 && (formatType != openAIPCM || row.format == Default) {
			return row.format, true
		}
	}
	return Format{}, false
}

// ParseElevenLabs finds a format by its name in ElevenLabs' protocol, such as "pcm_16000".
func ParseElevenLabs(name string) (Format, bool) {
	for _, row := range formats {
		if row.elevenLabs == name {
			return row.format, true
		}
	}
	return Format{}, false
}

// String is the format's name in Parlance's API. Formats that the API does not have are named in
// the same way ("pcm16_44100"), but Parse refuses those names.
func (f Format) String() string {
	name := "unknown"
	switch f.Encoding {
	case PCM16:
		return "pcm16_" + strconv.Itoa(f.RateHz)
	case MuLaw:
		name = "g711_ulaw"
	case ALaw:
		name = "g711_alaw"
	}
	if f.IsKnown() {
		return name
	}
	return name + "_" + strconv.Itoa(f.RateHz)
}

// OpenAI is the format in OpenAI's Realtime protocol. The rate is 0 where the protocol has no rate,
// for G.711. It reports false when the protocol does not have the format.
func (f Format) OpenAI() (formatType string, rateHz int, ok bool) {
	for _, row := range formats {
		if row.format != f || row.openAIType == "" {
			continue
		}
		if row.openAIType == openAIPCM {
			rateHz = f.RateHz
		}
		return row.openAIType, rateHz, true
	}
	return "", 0, false
}

// ElevenLabs is the format's name in ElevenLabs' protocol, which has every known format. It is
// empty for a format that is not known.
func (f Format) ElevenLabs() string {
	for _, row := range formats {
		if row.format == f {
			return row.elevenLabs
		}
	}
	return ""
}

// Formats lists every known format.
func Formats() []Format {
	known := make([]Format, len(formats))
	for i, row := range formats {
		known[i] = row.format
	}
	return known
}

// IsKnown reports whether f is one of Formats.
func (f Format) IsKnown() bool { return f.ElevenLabs() != "" }

// BytesPerSample is 2 for PCM16 and 1 for G.711.
func (f Format) BytesPerSample() int {
	if f.Encoding == PCM16 {
		return 2
	}
	return 1
}

// Bytes is the number of bytes that d of sound has: of whole samples, rounded down.
func (f Format) Bytes(d time.Duration) int { return Samples(d, f.RateHz) * f.BytesPerSample() }

// Samples is the number of samples that d of sound has at a rate, rounded down.
func Samples(d time.Duration, rateHz int) int {
	seconds, rest := d/time.Second, d%time.Second // apart, so that days do not overflow
	return int(seconds)*rateHz + int(rest*time.Duration(rateHz)/time.Second)
}

// Duration is how long a number of samples lasts at a rate, rounded down to nanoseconds. The rate
// is above 0.
func Duration(samples, rateHz int) time.Duration {
	seconds, rest := samples/rateHz, samples%rateHz // apart, so that days do not overflow
	return time.Duration(seconds)*time.Second + time.Duration(rest)*time.Second/time.Duration(rateHz)
}
