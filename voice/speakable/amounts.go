package speakable

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	amount    = `(\d{1,3}(?:[ \x{a0}]\d{3})+(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*|\.\d\d)`
	anySign   = `(R\$|US\$|[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|INR|BRL)\b)`
	magnitude = `(?:[ \x{a0}]?(\pL+\.?))?`
)

var (
	amountBeforePattern = regexp.MustCompile(`^[-−]?` + anySign + `[ \x{a0}]?` + amount + magnitude)
	amountAfterPattern  = regexp.MustCompile(`^` + amount + `(?:[ \x{a0}]?(\pL+\.?))??[ \x{a0}]?` + anySign)
	measurePattern      = regexp.MustCompile(`^` + amount + `([ \x{a0}]?)(%|°[CF]?|km/h|m[²³]|\pL+)`)
	perPattern          = regexp.MustCompile(`^ ?/ ?(\pL+)`)
	dimensionPattern    = regexp.MustCompile(`^(\d+(?:[.,]\d+)?) ?[x×] ?(\d)`)
	dottedPattern       = regexp.MustCompile(`^\d+(?:\.\d+){2,}`)
	versionPattern      = regexp.MustCompile(`^[vV](\d+(?:\.\d+)*)`)
)

// currencyKeys are the keys of language.currencies by what is written.
var currencyKeys = map[string]string{"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "R$": "BRL"}

func (s *speaker) currencyOf(sign string) (currency, bool) {
	if key, ok := currencyKeys[sign]; ok {
		sign = key
	}
	c, ok := s.currencies[sign]
	return c, ok
}

// amountBefore reads "$3.50", "USD 20" and "€2 million".
func amountBefore(s *speaker, i int) (int, string) {
	m := amountBeforePattern.FindStringSubmatch(s.in[i:])
	if m == nil {
		return 0, ""
	}
	c, ok := s.currencyOf(m[1])
	if !ok {
		return 0, ""
	}
	n := len(m[0])
	size, ok := s.magnitudes[strings.TrimSuffix(m[3], ".")]
	if !ok {
		n = len(strings.TrimRight(m[0][:len(m[0])-len(m[3])], " \u00a0"))
		size = ""
	} else if strings.HasSuffix(m[3], ".") && s.ends(i+n) {
		n-- // the sentence's full stop
	}
	say := s.sayMoney(m[2], size, c)
	if m[0][0] == '-' || strings.HasPrefix(m[0], "−") {
		say = s.minus + say
	}
	return s.withPer(i, n, say)
}

// amountAfter reads "3,50 €" and "2 Mio. EUR".
func amountAfter(s *speaker, i int) (int, string) {
	m := amountAfterPattern.FindStringSubmatch(s.in[i:])
	if m == nil {
		return 0, ""
	}
	c, ok := s.currencyOf(m[3])
	size, known := s.magnitudes[strings.TrimSuffix(m[2], ".")]
	if !ok || m[2] != "" && !known {
		return 0, ""
	}
	if next, _ := utf8.DecodeRuneInString(s.in[i+len(m[0]):]); unicode.IsDigit(next) { // "5 $10"
		return 0, ""
	}
	return s.withPer(i, len(m[0]), s.sayMoney(m[1], size, c))
}

// withPer adds what an amount is for: "/month".
func (s *speaker) withPer(i, n int, say string) (int, string) {
	m := perPattern.FindStringSubmatch(s.in[i+n:])
	if m == nil || s.per == "" {
		return n, say
	}
	word := m[1]
	if long, ok := s.perWords[strings.ToLower(word)]; ok {
		word = long
	}
	return n + len(m[0]), say + s.per + word
}

// sayMoney says an amount of a currency. A fraction of two digits is its hundredths.
func (s *speaker) sayMoney(amount, size string, c currency) string {
	integer, fraction := split(amount)
	one := integer == "1" && strings.Trim(fraction, "0") == ""
	if size != "" {
		return amount + " " + size + s.ofMillions + " " + c.many
	}
	name := c.many
	if one {
		name = c.one
	}
	if strings.Trim(fraction, "0") == "" {
		return integer + " " + name
	}
	if len(fraction) != 2 || c.cents == "" {
		return amount + " " + name
	}
	cents := strings.TrimPrefix(fraction, "0")
	centName := c.cents
	if cents == "1" {
		centName = c.cent
	}
	if strings.Trim(integer, "0") == "" {
		return cents + " " + centName
	}
	if integer == "1" {
		name = c.one
	}
	pattern := s.cents
	if s.centsAlone != "" && fraction[0] != '0' {
		pattern = s.centsAlone
	}
	return integer + " " + name + strings.NewReplacer("{n}", cents, "{cents}", centName).Replace(pattern)
}

// split divides a number as it is written into its integer and its fraction. A separator with three
// digits behind it groups them, unless it is the only one and stands behind a zero.
func split(number string) (integer, fraction string) {
	i := strings.LastIndexAny(number, ".,")
	if i < 0 || len(number)-i-1 == 3 && number[:i] != "0" {
		return number, ""
	}
	return number[:i], number[i+1:]
}

// measure reads "5 km", "20 °C" and "5 %".
func measure(s *speaker, i int) (int, string) {
	m := measurePattern.FindStringSubmatch(s.in[i:])
	if m == nil {
		return 0, ""
	}
	number, space, unit, n := m[1], m[2], m[3], len(m[0])
	if unit == "%" {
		if s.percent == "" {
			return 0, ""
		}
		return n, number + " " + s.percent
	}
	if say, ok := s.magnitudes[unit]; ok && strings.HasPrefix(s.in[i+n:], ".") && !s.ends(i+n+1) {
		return n + 1, number + " " + say // "5 Mio. Kunden"
	}
	names, ok := s.units[unit]
	attached := space == "" && utf8.RuneCountInString(unit) == 1 && !strings.Contains("gWV°", unit) // "the 90s", "5m"
	if !ok || attached || !s.wholeWord(i+n) {
		return 0, ""
	}
	name := names[1]
	if number == "1" {
		name = names[0]
	}
	return s.withPer(i, n, number+" "+name)
}

// negative reads "-5".
func negative(s *speaker, i int) (int, string) {
	r, size := utf8.DecodeRuneInString(s.in[i:])
	next, _ := utf8.DecodeRuneInString(s.in[i+size:])
	before, _ := utf8.DecodeLastRuneInString(s.in[:i])
	if r != '-' && r != '−' || !unicode.IsDigit(next) || before != ' ' && before != '(' && i > 0 || s.minus == "" {
		return 0, ""
	}
	if left := strings.TrimRight(s.in[:i], " "); r == '-' && left != "" && unicode.IsDigit(rune(left[len(left)-1])) {
		return 0, ""
	}
	return size, s.minus
}

// approximate reads "~5".
func approximate(s *speaker, i int) (int, string) {
	r, size := utf8.DecodeRuneInString(s.in[i:])
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(s.in[i+size:], " "))
	if r != '~' && r != '≈' || !unicode.IsDigit(next) || s.symbols['≈'] == "" {
		return 0, ""
	}
	return size, s.symbols['≈'] + " "
}

// dimension reads "10x20".
func dimension(s *speaker, i int) (int, string) {
	m := dimensionPattern.FindStringSubmatch(s.in[i:])
	if m == nil || s.by == "" {
		return 0, ""
	}
	return len(m[0]) - len(m[2]), m[1] + s.by
}

// dottedNumber reads versions and network addresses: "2.10.1".
func dottedNumber(s *speaker, i int) (int, string) {
	m := dottedPattern.FindString(s.in[i:])
	if m == "" || s.dot == "" || !s.wholeWord(i+len(m)) {
		return 0, ""
	}
	if parts := strings.Split(m, "."); grouped(parts) { // 1.200.000
		return 0, ""
	}
	return len(m), strings.ReplaceAll(m, ".", s.dot)
}

// grouped reports whether numbers are the groups of three digits of one, in a language that has
// full stops between them.
func grouped(parts []string) bool {
	for _, part := range parts[1:] {
		if len(part) != 3 {
			return false
		}
	}
	return len(parts[0]) <= 3 && len(parts) < 4
}

// versionNumber reads "v2.1".
func versionNumber(s *speaker, i int) (int, string) {
	m := versionPattern.FindStringSubmatch(s.in[i:])
	if m == nil || s.version == "" || !s.wholeWord(i+len(m[0])) {
		return 0, ""
	}
	say := m[1]
	if strings.Count(say, ".") > 1 {
		say = strings.ReplaceAll(say, ".", s.dot)
	}
	return len(m[0]), s.version + say
}

// ordinal reads those of the language's table: "1er", "2ª".
func ordinal(s *speaker, i int) (int, string) {
	for n := 5; n > 1; n-- {
		if i+n > len(s.in) {
			continue
		}
		if say, ok := s.ordinals[s.in[i:i+n]]; ok && s.wholeWord(i+n) {
			return n, say
		}
	}
	return 0, ""
}

// hashNumber reads "#5".
func hashNumber(s *speaker, i int) (int, string) {
	if s.number == "" || s.in[i] != '#' || i+1 == len(s.in) || s.in[i+1] < '0' || s.in[i+1] > '9' {
		return 0, ""
	}
	return 1, s.number
}
