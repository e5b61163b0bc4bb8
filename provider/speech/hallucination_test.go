package speech_test

import (
	"testing"

	"parlance.dev/parlance/provider/speech"
)

func TestIsHallucination(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text     string
		noSpeech float64
		speechMS int
		want     bool
	}{
		{"Thank you.", 0, 120, true},
		{"Thank you.", 0, 299, true},
		{"Thank you.", 0, 300, false}, // said, probably
		{"Thank you.", 0.9, 900, true},
		{"Thank you.", 0.6, 900, false},
		{"Thanks for watching!", 0.7, 2000, true},
		{"Thanks for watching!", 0.1, 2000, false},
		{"Thank you. Thank you. Thanks for watching!", 0, 100, true},
		{"Thank you. My number is 12.", 0.9, 100, false},
		{"  THANK   you so much for watching", 0, 100, true},
		{"Don't forget to like and subscribe.", 0, 100, true},
		{"Subtitles by the Amara.org community", 0, 100, true},
		{"Untertitelung des ZDF, 2020", 0, 100, true},
		{"Vielen Dank fürs Zuschauen!", 0, 100, true},
		{"Sous-titrage Société Radio-Canada", 0, 100, true},
		{"ご視聴ありがとうございました。", 0, 100, true},
		{"시청해주셔서 감사합니다.", 0, 100, true},
		{"字幕由Amara.org社区提供", 0, 100, true},
		{"Продолжение следует...", 0, 100, true},
		{"Altyazı M.K.", 0, 100, true},
		{"Yes.", 0.9, 100, false},
		{"No", 0.9, 100, false},
		{"Bye.", 0.9, 100, false},
		{"Where is my order?", 0.99, 100, false},
		{"", 0, 100, false}, // nothing to drop
		{" \n", 0.9, 100, false},
		{"[BLANK_AUDIO]", 0, 5000, true},
		{"(upbeat music) [Music]", 0, 5000, true},
		{"*coughs*", 0, 5000, true},
		{"♪ ♪", 0, 5000, true},
		{"...", 0, 5000, true},
		{"[Music] Where is my order?", 0, 5000, false},
		{"I ordered a (red) one.", 0, 100, false},
		{"(never closed", 0, 100, true},
	} {
		got := speech.IsHallucination(speech.Transcript{Text: row.text, NoSpeech: row.noSpeech}, row.speechMS)
		if got != row.want {
			t.Errorf("%q, no speech %v, %d ms: %t", row.text, row.noSpeech, row.speechMS, got)
		}
	}
}
