package phone_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/platform/phone"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]phone.Number{
		"+49 30 123456":      {E164: "+4930123456", Country: "DE", Zones: []string{"Europe/Berlin"}},
		"+1 (201) 555-0123":  {E164: "+12015550123", Country: "US", Zones: []string{"America/New_York"}},
		"+44 20 7946 0018":   {E164: "+442079460018", Country: "GB", Zones: []string{"Europe/London"}},
		" +33.1.99.00.12.34": {E164: "+33199001234", Country: "FR", Zones: []string{"Europe/Paris"}},
	} {
		got, ok := phone.Parse(text)
		if !ok || got.E164 != want.E164 || got.Country != want.Country || !slices.Equal(got.Zones, want.Zones) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "+", "030 123456", "0049 30 123456", "+49", "+4930", "+1 201 555", "+999 12345678", "+49 30 12345678901234567",
		"+1 800 FLOWERS", "call me", "+49 30 123456 ext. 7", "+49 30 123456;ext=7", "+12015550123\n+12015550124", "٤٩+",
	} {
		if got, ok := phone.Parse(text); ok {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

func TestKnownCountry(t *testing.T) {
	t.Parallel()
	if !phone.KnownCountry("DE") || phone.KnownCountry("XX") || phone.KnownCountry("de") || phone.KnownCountry("") {
		t.Error("countries are not told apart")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("+1 (201) 555-0123")
	f.Add("+49 30/123456")
	f.Fuzz(func(t *testing.T, text string) {
		number, ok := phone.Parse(text)
		if !ok {
			return
		}
		again, ok := phone.Parse(number.E164)
		if !ok || again.E164 != number.E164 {
			t.Errorf("%q became %q, which becomes %+v, %v", text, number.E164, again, ok)
		}
	})
}
