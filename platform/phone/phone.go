// Package phone reads telephone numbers as people write them.
//
// The tables of numbers are those of github.com/nyaruka/phonenumbers, Google's libphonenumber. They
// cost each start of the program about 8 ms and 2.4 MiB (GODEBUG=inittrace=1).
package phone

import (
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Number is a number that can be called.
type Number struct {
	// E164 is the plus and up to fifteen digits, e.g. +4930123456.
	E164 string
	// Country is ISO 3166-1 alpha-2; empty for numbers of no country, such as +800.
	Country string
	// Zones are the IANA time zones that a subscriber with the number may be in.
	Zones []string
}

// minChars is the length of the shortest number with its plus: seven digits, as in the schema of
// schedule_callback.
const minChars = 8

// Parse reads a number with its country's code. Spaces and punctuation are allowed. It returns
// false for what cannot be a number: letters, no country's code, too few or too many digits, an
// area that does not exist.
func Parse(text string) (Number, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "+") || len(text) > 64 || strings.ContainsFunc(text, notPunctuation) {
		return Number{}, false
	}
	parsed, err := phonenumbers.Parse(text, "ZZ") // no region: the number has its country's code
	if err != nil || parsed.GetExtension() != "" || !phonenumbers.IsPossibleNumber(parsed) {
		return Number{}, false
	}
	n := Number{E164: phonenumbers.Format(parsed, phonenumbers.E164), Country: countryOf(parsed)}
	if len(n.E164) < minChars || n.Country == "" && !phonenumbers.IsValidNumber(parsed) {
		return Number{}, false
	}
	if zones, err := phonenumbers.GetTimezonesForNumber(parsed); err == nil {
		n.Zones = slices.DeleteFunc(zones, func(zone string) bool { return strings.HasPrefix(zone, "Etc/") })
	}
	return n, true
}

// countryOf is the country of a number. One in a range that is not in use yet has the country of
// its code, as far as that has one: such ranges are put to use before the tables know them, and
// numbers for fiction (+1 201 555 0123) are among them.
func countryOf(number *phonenumbers.PhoneNumber) string {
	region := phonenumbers.GetRegionCodeForNumber(number)
	if region == "" {
		region = phonenumbers.GetRegionCodeForCountryCode(int(number.GetCountryCode()))
	}
	if !KnownCountry(region) {
		return ""
	}
	return region
}

// KnownCountry reports whether there are numbers of a country.
func KnownCountry(code string) bool { return phonenumbers.GetSupportedRegions()[code] }

func notPunctuation(r rune) bool {
	return (r < '0' || r > '9') && !strings.ContainsRune("+ -.()/\u00a0\u2009\u2010\u2011\u2013", r)
}
