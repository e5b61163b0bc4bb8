package langtag_test

import (
	"testing"

	"parlance.dev/parlance/platform/langtag"
)

func TestBase(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"": "", "en": "en", "EN": "en", "de-AT": "de", "pt_BR": "pt", "zh-Hant-TW": "zh", "-": "", "x-klingon": "x", "iw": "iw",
	} {
		if got := langtag.Base(tag); got != want {
			t.Errorf("%q: got %q, want %q", tag, got, want)
		}
	}
}
