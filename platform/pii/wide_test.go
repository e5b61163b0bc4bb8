package pii_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/platform/pii"
)

// TestWide: national telephone numbers are found though nobody says of which country they are, and
// other numbers stay.
func TestWide(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"4155550199": "[phone]", "415 5550199": "[phone]", "It's 4155550199, thanks": "It's [phone], thanks",
		"(415) 555-0199": "[phone]", "415-555-0199": "[phone]", "My number: 415.555.0199": "My number: [phone]",
		"Handy 0170 1234567": "Handy [phone]", "030/1234567": "[phone]", "Telefon (030) 1234567": "Telefon [phone]",
		"appelez le 06 12 34 56 78": "appelez le [phone]", "612 345 678": "[phone]", "612345678": "[phone]", "138 1234 5678": "[phone]",
		"ring mig 20 12 34 56": "ring mig [phone]", "call 555 0199": "call [phone]", "हमें फोन 99 1234 567": "हमें फोन [phone]",

		"order 4155550199": "order 4155550199", "Rechnung 0170 1234567": "Rechnung 0170 1234567",
		"since 1764365160": "since 1764365160", "20241127103000": "20241127103000", "20241130": "20241130", "2024-11-30": "2024-11-30",
		"open 08.30-17.00": "open 08.30-17.00", "2020-2024": "2020-2024", "5000-6000 users": "5000-6000 users",
		"1,234,567.00": "1,234,567.00", "12.345.678": "12.345.678", "12 345 678 EUR": "12 345 678 EUR", "€ 0.12345678": "€ 0.12345678",
		"1 234 567 people": "1 234 567 people", "10.0.0.255": "10.0.0.255", "12345678": "12345678", "room 12, floor 3": "room 12, floor 3",
	} {
		if got := pii.NewWide(pii.Kinds, "").Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestWideLanguage: the country of a language counts beside those that are known.
func TestWideLanguage(t *testing.T) {
	t.Parallel()
	const text = "at 555 12 34 56, or 612 345 678" // the first as in Georgia
	for tag, want := range map[string]string{
		"": "at 555 12 34 56, or [phone]", "?": "at 555 12 34 56, or [phone]",
		"ka": "at [phone], or [phone]", "de-GE": "at [phone], or [phone]",
	} {
		if got := pii.NewWide(pii.Kinds, tag).Text(text); got != want {
			t.Errorf("%q: got %q", tag, got)
		}
	}
}

// TestWideBounded: a text of very many numbers is read to its end.
func TestWideBounded(t *testing.T) {
	t.Parallel()
	got := pii.NewWide([]pii.Kind{pii.Phone}, "").Text(strings.Repeat("612 345 678, ", 2000))
	if strings.ContainsAny(got, "0123456789") {
		t.Errorf("numbers are left in %d characters", len(got))
	}
}
