package pii

import "unicode"

// ibanLengths are the lengths of IBANs by country. Source: ISO 13616, the registry of SWIFT.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21,
	"CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18,
	"FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23,
	"IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27,
	"MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28,
	"PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27,
	"SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// findIBANs finds IBANs in capitals or small letters, in groups of any length that are separated by
// single spaces or dashes.
func (t *text) findIBANs() {
	for i := 0; i+4 < len(t.runes); i++ {
		if !isDigit(t.at(i+2)) && (!isIBANGap(t.at(i+2)) || !isDigit(t.at(i+3))) || isWord(t.at(i-1)) && !t.follows(i, "iban") {
			continue
		}
		if to, ok := t.ibanAt(i); ok {
			t.add(IBAN, i, to)
			i = to - 1
		}
	}
}

// ibanAt returns where the IBAN ends that begins at a rune.
func (t *text) ibanAt(from int) (to int, ok bool) {
	country := string([]rune{unicode.ToUpper(t.at(from)), unicode.ToUpper(t.at(from + 1))})
	length := ibanLengths[country]
	if length == 0 {
		return 0, false
	}
	var number []rune
	for to = from; len(number) < length; to++ {
		r := t.at(to)
		if isIBANGap(r) && len(number) > 1 && isWord(t.at(to+1)) {
			continue
		}
		if r == '_' || !isWord(r) {
			return 0, false
		}
		number = append(number, unicode.ToUpper(r))
	}
	return to, !isWord(t.at(to)) && mod97(number)
}

// isIBANGap reports whether people put a character between the groups of an IBAN.
func isIBANGap(r rune) bool { return r == ' ' || r == '-' || r == '.' || r == '\n' || r == '\t' }

// mod97 reports whether the check digits of an IBAN are right. Source: ISO 7064, MOD 97-10.
func mod97(number []rune) bool {
	remainder := 0
	for i := range number {
		switch r := number[(i+4)%len(number)]; {
		case isDigit(r):
			remainder = (remainder*10 + int(r-'0')) % 97
		default:
			remainder = (remainder*100 + int(r-'A') + 10) % 97
		}
	}
	return remainder == 1
}

// follows reports whether a word, in small letters, stands directly before a rune.
func (t *text) follows(i int, word string) bool {
	at := i - len(word)
	for k, r := range word {
		if unicode.ToLower(t.at(at+k)) != r {
			return false
		}
	}
	return true
}
