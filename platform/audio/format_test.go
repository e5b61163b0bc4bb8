package audio_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/platform/audio"
)

var pcm16At16000 = audio.Format{Encoding: audio.PCM16, RateHz: 16000}

// TestNames checks each format's name in each protocol, both ways.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		format       audio.Format
		name         string
		inAPI        bool
		openAIType   string
		openAIRateHz int
		elevenLabs   string
	}{
		{audio.Format{Encoding: audio.PCM16, RateHz: 8000}, "pcm16_8000", false, "", 0, "pcm_8000"},
		{audio.Format{Encoding: audio.PCM16, RateHz: 16000}, "pcm16_16000", true, "audio/pcm", 16000, "pcm_16000"},
		{audio.Format{Encoding: audio.PCM16, RateHz: 22050}, "pcm16_22050", false, "", 0, "pcm_22050"},
		{audio.Format{Encoding: audio.PCM16, RateHz: 24000}, "pcm16_24000", true, "audio/pcm", 24000, "pcm_24000"},
		{audio.Format{Encoding: audio.PCM16, RateHz: 44100}, "pcm16_44100", false, "", 0, "pcm_44100"},
		{audio.Format{Encoding: audio.PCM16, RateHz: 48000}, "pcm16_48000", false, "", 0, "pcm_48000"},
		{audio.Format{Encoding: audio.MuLaw, RateHz: 8000}, "g711_ulaw", true, "audio/pcmu", 0, "ulaw_8000"},
		{audio.Format{Encoding: audio.ALaw, RateHz: 8000}, "g711_alaw", true, "audio/pcma", 0, "alaw_8000"},
	} {
		if got := row.format.String(); got != row.name || !row.format.IsKnown() {
			t.Errorf("%+v is %s, known %t; want %s", row.format, got, row.format.IsKnown(), row.name)
		}
		if got, ok := audio.Parse(row.name); ok != row.inAPI || ok && got != row.format {
			t.Errorf("Parse(%s) = %v, %t", row.name, got, ok)
		}
		formatType, rateHz, ok := row.format.OpenAI()
		if formatType != row.openAIType || rateHz != row.openAIRateHz || ok != (row.openAIType != "") {
			t.Errorf("%v at OpenAI is %s %d, %t", row.format, formatType, rateHz, ok)
		}
		if got, ok := audio.ParseOpenAI(row.openAIType, row.openAIRateHz); ok != (row.openAIType != "") || ok && got != row.format {
			t.Errorf("ParseOpenAI(%s, %d) = %v, %t", row.openAIType, row.openAIRateHz, got, ok)
		}
		if got := row.format.ElevenLabs(); got != row.elevenLabs {
			t.Errorf("%v at ElevenLabs is %s, want %s", row.format, got, row.elevenLabs)
		}
		if got, ok := audio.ParseElevenLabs(row.elevenLabs); !ok || got != row.format {
			t.Errorf("ParseElevenLabs(%s) = %v, %t", row.elevenLabs, got, ok)
		}
	}
	if got := len(audio.Formats()); got != 8 {
		t.Errorf("%d formats are known, the table above has 8", got)
	}
}

// TestNamesWithDefaults checks what stands for a format without saying all of it.
func TestNamesWithDefaults(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "pcm16"} {
		if got, ok := audio.Parse(name); !ok || got != audio.Default {
			t.Errorf("Parse(%q) = %v, %t", name, got, ok)
		}
	}
	if got, ok := audio.ParseOpenAI("audio/pcm", 0); !ok || got != audio.Default {
		t.Errorf("audio/pcm without a rate is %v, %t", got, ok)
	}
	if got, ok := audio.ParseOpenAI("audio/pcma", 8000); !ok || got.Encoding != audio.ALaw {
		t.Errorf("audio/pcma with its rate is %v, %t", got, ok)
	}
}

// TestUnknownNames checks what no protocol has.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pcm", "pcm16_11025", "PCM16_24000", "g711_ulaw ", "mp3", "pcm_16000"} {
		if got, ok := audio.Parse(name); ok {
			t.Errorf("Parse(%q) = %v", name, got)
		}
	}
	for _, name := range []string{"", "pcm_32000", "mp3_44100_128", "ulaw_16000", "pcm16_16000"} {
		if got, ok := audio.ParseElevenLabs(name); ok {
			t.Errorf("ParseElevenLabs(%q) = %v", name, got)
		}
	}
	for formatType, rateHz := range map[string]int{"audio/pcm": 8000, "audio/pcmu": 16000, "": 0, "audio/opus": 48000} {
		if got, ok := audio.ParseOpenAI(formatType, rateHz); ok {
			t.Errorf("ParseOpenAI(%q, %d) = %v", formatType, rateHz, got)
		}
	}
	for format, name := range map[audio.Format]string{
		{}:                                     "unknown_0",
		{Encoding: audio.MuLaw, RateHz: 16000}: "g711_ulaw_16000",
		{Encoding: audio.PCM16, RateHz: 11025}: "pcm16_11025",
	} {
		if format.IsKnown() || format.String() != name {
			t.Errorf("%v is known: %t, want the name %s", format, format.IsKnown(), name)
		}
	}
}

// TestTimes checks the helpers between durations, samples and bytes.
func TestTimes(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for _, row := range []struct {
		d       time.Duration
		rateHz  int
		samples int
	}{
		{20 * time.Millisecond, 24000, 480},
		{time.Millisecond, 22050, 22}, // 22.05
		{0, 8000, 0},
		{year, 48000, 365 * 24 * 3600 * 48000},
	} {
		if got := audio.Samples(row.d, row.rateHz); got != row.samples {
			t.Errorf("%v at %d Hz is %d samples, want %d", row.d, row.rateHz, got, row.samples)
		}
	}
	if got := audio.Duration(480, 24000); got != 20*time.Millisecond {
		t.Errorf("480 samples last %v", got)
	}
	if got := audio.Duration(365*24*3600*48000+1, 48000); got != year+20833*time.Nanosecond {
		t.Errorf("a year and a sample lasts %v", got)
	}
	if got := audio.Default.Bytes(20 * time.Millisecond); got != 960 {
		t.Errorf("20 ms have %d bytes, want 960", got)
	}
	if got := (audio.Format{Encoding: audio.ALaw, RateHz: 8000}).Bytes(20 * time.Millisecond); got != 160 {
		t.Errorf("20 ms of A-law have %d bytes, want 160", got)
	}
	// 13 ms are 286.65 samples: 573 bytes would cut one.
	if got := (audio.Format{Encoding: audio.PCM16, RateHz: 22050}).Bytes(13 * time.Millisecond); got != 572 {
		t.Errorf("13 ms at 22,050 Hz have %d bytes, want 572", got)
	}
}

// FuzzParse checks that a name that is accepted is a known format, which is found again by the name
// that it prints.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "pcm16", "pcm16_24000", "g711_alaw", "pcm_44100", "ulaw_8000", "audio/pcm", "audio/pcmu", "pcm16_-1"} {
		f.Add(seed, 24000)
	}
	f.Fuzz(func(t *testing.T, name string, rateHz int) {
		if format, ok := audio.Parse(name); ok {
			if again, ok := audio.Parse(format.String()); !format.IsKnown() || !ok || again != format {
				t.Errorf("%q is %v, and that is %v", name, format, again)
			}
		}
		if format, ok := audio.ParseElevenLabs(name); ok {
			if !format.IsKnown() || format.ElevenLabs() != name {
				t.Errorf("%q is %v", name, format)
			}
		}
		if format, ok := audio.ParseOpenAI(name, rateHz); ok {
			formatType, printed, ok := format.OpenAI()
			if !format.IsKnown() || !ok || formatType != name || printed != 0 && rateHz != 0 && printed != rateHz {
				t.Errorf("%q %d is %v", name, rateHz, format)
			}
		}
	})
}
