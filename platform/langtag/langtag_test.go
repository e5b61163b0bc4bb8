package langtag_test

import (
	"strings"
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

func TestCanonical(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"DE-ch": "de-CH", "en": "en", "zh-hant-tw": "zh-Hant-TW", "": "", "und-CH": "", "not a tag": "", "en-" + strings.Repeat("a-", 40): "",
	} {
		if got, ok := langtag.Canonical(tag); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t, want %q", tag, got, ok, want)
		}
	}
}
