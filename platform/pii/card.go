package pii

import "strings"

// maxCardGroups bounds the groups that a card number is written in: one for each digit.
const maxCardGroups = 19

// issuer is a range of card numbers. Source: ISO/IEC 7812, and the ranges that the card networks
// publish.
type issuer struct {
	// first and last are the first digits of the range, of the same length.
	first, last string
	// minDigits and maxDigits are the lengths of its numbers.
	minDigits, maxDigits int
}

var issuers = []issuer{
	{"1", "1", 15, 15},           // UATP
	{"2014", "2014", 15, 15},     // enRoute
	{"2149", "2149", 15, 15},     // enRoute
	{"2200", "2205", 16, 19},     // Mir
	{"2221", "2720", 16, 16},     // Mastercard
	{"300", "305", 14, 19},       // Diners Club
	{"3095", "3095", 14, 19},     // Diners Club
	{"34", "34", 15, 15},         // American Express
	{"3528", "3589", 16, 19},     // JCB
	{"36", "36", 14, 19},         // Diners Club
	{"37", "37", 15, 15},         // American Express
	{"38", "39", 14, 19},         // Diners Club
	{"4", "4", 13, 13},           // Visa
	{"4", "4", 16, 16},           // Visa
	{"4", "4", 19, 19},           // Visa
	{"50", "50", 13, 19},         // Maestro, Verve, RuPay
	{"51", "55", 16, 16},         // Mastercard
	{"56", "58", 13, 19},         // Maestro
	{"60", "60", 16, 19},         // Discover, RuPay
	{"61", "61", 13, 19},         // Maestro
	{"62", "62", 16, 19},         // UnionPay
	{"63", "63", 13, 19},         // Maestro, InstaPayment
	{"64", "65", 16, 19},         // Discover
	{"66", "69", 13, 19},         // Maestro
	{"81", "82", 16, 19},         // UnionPay, RuPay
	{"8600", "8600", 16, 16},     // Uzcard
	{"9704", "9704", 16, 19},     // NAPAS
	{"979200", "979289", 16, 16}, // Troy
	{"9860", "9860", 16, 16},     // Humo
}

// findCards finds numbers of payment cards: 13 to 19 digits of a card network's range with a valid
// check digit, in any groups that are separated by spaces, dashes or dots.
func (t *text) findCards() {
	separates := func(r rune) bool { return r == ' ' || r == '-' || r == '.' || r == '\n' || r == '\t' }
	for i := 0; i < len(t.runes); i++ {
		if !isDigit(t.at(i)) {
			continue
		}
		groups := t.groupsFrom(i, 3, separates)
		i = groups[len(groups)-1].to
		t.findCardsIn(groups)
	}
}

// findCardsIn finds cards in a run of groups, each the longest that begins there.
func (t *text) findCardsIn(groups []group) {
	for first := 0; first < len(groups); first++ {
		for last := min(len(groups), first+maxCardGroups) - 1; last >= first; last-- {
			if t.isCard(groups[first : last+1]) {
				t.add(Card, groups[first].from, groups[last].to)
				first = last
				break
			}
		}
	}
}

func (t *text) isCard(groups []group) bool {
	from, to := groups[0].from, groups[len(groups)-1].to
	if t.continues(from, to) {
		return false
	}
	length, threes := 0, 0
	for _, g := range groups {
		length += g.length()
		if g.length() == 3 {
			threes++
		}
	}
	if length < 13 || length > 19 || threes > 1 { // cards are not written in threes, and lists of numbers are
		return false
	}
	digits := t.digits(groups)
	return isIssued(digits) && luhn(digits)
}

// continues reports whether what stands around a number shows that it is part of something longer:
// an identifier or a decimal number.
func (t *text) continues(from, to int) bool {
	before, after := t.at(from-1), t.at(to)
	return isWord(before) || isWord(after) ||
		(before == '.' || before == ',') && isDigit(t.at(from-2)) || after == ',' && isDigit(t.at(to+1))
}

func isIssued(digits string) bool {
	for _, of := range issuers {
		prefix := digits[:len(of.first)]
		if prefix >= of.first && prefix <= of.last && len(digits) >= of.minDigits && len(digits) <= of.maxDigits {
			return strings.Trim(digits, digits[:1]) != "" // 4444444444444444 is no card
		}
	}
	return false
}

// luhn reports whether the last digit is the check digit of the others. Source: ISO/IEC 7812-1,
// annex B.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
