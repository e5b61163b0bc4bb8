package pii

import "golang.org/x/text/language"

// countries says which national telephone numbers are found. The zero value finds none.
type countries struct {
	// regions are the codes of countries (ISO 3166-1) whose numbers are known.
	regions []string
	// any says that numbers of other countries are expected too.
	any bool
}

// wideRegions are the countries whose ways of grouping a number are known to NewWide. Left out are
// those that write two groups of four digits, which are more often something else.
var wideRegions = []string{
	"US", "CA", "MX", "BR", "AR", "CL", "CO", "PE", "GB", "IE", "AU", "NZ", "ZA", "NG", "KE", "DE", "AT", "CH", "FR", "BE", "NL", "LU", "IT",
	"ES", "PT", "GR", "PL", "CZ", "SK", "HU", "RO", "BG", "HR", "RS", "SI", "DK", "NO", "SE", "FI", "EE", "LV", "LT", "UA", "RU", "TR", "IL",
	"SA", "AE", "EG", "MA", "IN", "PK", "BD", "ID", "MY", "PH", "TH", "VN", "CN", "TW", "JP", "KR",
}

// regionOf returns the country of a language tag: its region, or the one where most speakers live.
// Empty: none is known.
func regionOf(tag string) string {
	parsed, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	region, confidence := parsed.Region()
	if confidence == language.No || !region.IsCountry() {
		return ""
	}
	return region.String()
}
