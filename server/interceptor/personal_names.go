package interceptor

import (
	"slices"
	"strings"
	"unicode"
)

// personalWords end the names of members whose value says who somebody is, in JSON whose members
// others have named: first_name, homeAddress.
var personalWords = []string{
	"name", "firstname", "lastname", "surname", "fullname", "forename", "nickname", "username", "displayname",
	"email", "mail", "phone", "mobile", "telephone", "tel", "fax", "cell", "msisdn", "address", "street", "postcode", "postalcode", "zip",
	"iban", "birthday", "birthdate", "birth", "dob", "ssn", "passport", "latitude", "longitude", "lat", "lng", "lon", "ip",
}

// personalOwners come before words such as id and number in names of the same kind: customer_id.
var personalOwners = []string{
	"user", "customer", "client", "patient", "guest", "caller", "contact", "member", "person", "phone", "mobile", "telephone", "card",
	"account", "passport", "tax", "insurance", "social", "security", "license", "licence",
}

// isPersonalName reports whether the value of a member of that name says who somebody is. It errs
// on the side of masking: the name of a product is masked too.
func isPersonalName(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if slices.Contains(personalWords, last) || slices.Contains(personalWords, strings.TrimSuffix(last, "s")) {
		return true
	}
	joined := strings.Join(words[max(0, len(words)-2):], "")
	if slices.Contains(personalWords, joined) {
		return true
	}
	isNumber := last == "id" || last == "number" || last == "no" || last == "nr"
	return isNumber && len(words) > 1 && slices.Contains(personalOwners, words[len(words)-2])
}

// wordsOf splits a name such as first_name, first-name, "First name" and firstName into words in
// lower case.
func wordsOf(name string) []string {
	var split strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			split.WriteByte(' ')
		}
		if !unicode.IsLetter(r) {
			split.WriteByte(' ')
		} else {
			split.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return strings.Fields(split.String())
}
