package main

import (
	"github.com/nyaruka/phonenumbers"

	"parlance.dev/parlance/platform/pii"
)

// formats are the forms in which the example numbers are written.
var formats = []struct {
	name   string
	format phonenumbers.PhoneNumberFormat
}{
	{"with the country's code", phonenumbers.INTERNATIONAL},
	{"with the country's code, without spaces", phonenumbers.E164},
	{"as they are dialled within the country", phonenumbers.NATIONAL},
}

// examplesOf counts the numbers that are missed among the examples of package phonenumbers: one of
// a fixed line and one of a mobile phone for each country.
func examplesOf(format phonenumbers.PhoneNumberFormat) (all, missed int) {
	const before, after = "Yes, ", ", thanks"
	for region := range phonenumbers.GetSupportedRegions() {
		for _, kind := range []phonenumbers.PhoneNumberType{phonenumbers.FIXED_LINE, phonenumbers.MOBILE} {
			number := phonenumbers.GetExampleNumberForType(region, kind)
			if number == nil {
				continue
			}
			all++
			text := phonenumbers.Format(number, format)
			if pii.New([]pii.Kind{pii.Phone}, "und-"+region).Text(before+text+after) != before+"[phone]"+after {
				missed++
			}
		}
	}
	return all, missed
}
