package pii

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
)

// Digits of a telephone number, with the country's code or without. Source: E.164; shorter national
// numbers are those of services.
const (
	minPhoneDigits = 7
	maxPhoneDigits = 17
	// minNationalDigits is the least of a national number for which no word speaks.
	minNationalDigits = 8
	// maxPhoneGroups bounds the groups that a number is written in.
	maxPhoneGroups = 12
	// maxParsed bounds the numbers of a text that are checked, at 10 µs each. Behind them, whatever
	// begins as a telephone number is taken for one.
	maxParsed = 5000
	// maxNationalDigits is the most digits of a number without its country's code. Source: E.164.
	maxNationalDigits = 15
	// minAloneDigits and maxAloneDigits are those of a number that is a whole text: fewer are dates
	// and amounts, more are times.
	minAloneDigits, maxAloneDigits = 9, 11
	// contextRunes is how far before a number a word says what number it is.
	contextRunes = 32
)

// notPhones matches dates, times behind dates, hours such as 08.30-17.00 and addresses of networks,
// which consist of the characters of telephone numbers.
var notPhones = regexp.MustCompile(
	`\b(?:(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])` +
		`|(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|1[0-2])([-./])(?:(?:19|20)\d\d|\d\d)` +
		`|(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])/(?:(?:19|20)\d\d|\d\d)` +
		`|(?:[01]?\d|2[0-3])\.[0-5]\d ?- ?(?:[01]?\d|2[0-4])\.[0-5]\d)\b` +
		`|\b(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}\b`)

// phoneWords are words, and beginnings of words, that announce a telephone number.
var phoneWords = []string{
	"phone", "tel", "call", "mobile", "cell", "whatsapp", "sms", "text me", "reach", "ring", "dial", "fax", "hotline", "number is",
	"handy", "mobil", "anruf", "rufnummer", "durchwahl", "erreich", "ruf ", "nummer ist", "zurückruf",
	"portable", "appel", "joindre", "numéro est", "móvil", "movil", "celular", "llám", "llam", "teléfono", "telefono", "número es",
	"cellulare", "chiam", "numero è", "telefoon", "bel ", "mobiel", "telemóvel", "ligue", "ligar", "número é", "zadzwo", "dzwo", "komórk",
	"numer to", "ring mig", "nummer är", "soita", "puhelin", "电话", "手机", "電話", "携帯", "전화", "тел", "звон", "номер", "هاتف", "फोन",
}

// otherWords announce a number that is none of a telephone.
var otherWords = []string{
	"order", "invoice", "ticket", "tracking", "booking", "reference", "ref", "customer no", "customer id", "account", "article", "item",
	"isbn", "serial", "version", "build", "id", "pin", "code", "sku", "parcel", "zip", "policy", "contract", "case", "vat", "part no",
	"bestell", "auftrag", "rechnung", "kunden", "vorgang", "sendung", "artikel", "beleg", "vertrag", "konto", "steuer", "serien", "aktenz",
	"commande", "facture", "dossier", "suivi", "référence", "client", "contrat", "pedido", "factura", "referencia", "cuenta", "contrato",
	"ordine", "fattura", "riferimento", "pratica", "codice", "bestelling", "factuur", "klant", "zamówieni", "faktur", "encomenda",
	"fatura", "订单", "注文", "заказ", "счет", "#", "№",
}

// plainRegions are countries where people write a number without groups too, with as many digits as
// few other numbers have.
var plainRegions = []string{"US", "CA"}

// plainDigits is how many these have.
const plainDigits = 10

// units stand behind an amount.
var units = []string{
	"€", "$", "£", "¥", "%", "eur", "usd", "gbp", "chf", "pln", "kr", "euro", "dollar", "pound", "kg", "km", "m²", "mb", "gb",
}

// findPhones finds telephone numbers with a country's code, and national ones as they are dialled
// within some countries. Package phonenumbers knows which numbers there can be.
func (t *text) findPhones(in countries) {
	barred := t.barredForPhones()
	isPart := func(r rune) bool { return r == ' ' || r == '-' || r == '.' || r == '/' || r == '(' || r == ')' }
	for i := 0; i < len(t.runes); i++ {
		if !isDigit(t.at(i)) || barred[i] {
			continue
		}
		groups := t.groupsFrom(i, 3, isPart)
		if cut := slices.IndexFunc(groups, func(g group) bool { return barred[g.from] }); cut > 0 {
			groups = groups[:cut]
		}
		i = groups[len(groups)-1].to - 1
		t.findPhonesIn(groups, in)
	}
}

// barredForPhones marks the runes of dates and addresses of networks.
func (t *text) barredForPhones() []bool {
	plain := make([]byte, len(t.runes)) // other characters do not matter to the expression
	for i, r := range t.runes {
		plain[i] = 'x'
		if r < unicode.MaxASCII {
			plain[i] = byte(r)
		}
		if r == ' ' || unicode.IsPunct(r) && r >= unicode.MaxASCII {
			plain[i] = ' '
		}
	}
	barred := make([]bool, len(t.runes))
	for _, at := range notPhones.FindAllSubmatchIndex(plain, -1) {
		if at[2] >= 0 && plain[at[2]] != plain[at[4]] { // 24/03-21 has two separators
			continue
		}
		if around := t.at(at[1]); (around == '.' || around == '-') && isDigit(t.at(at[1]+1)) || t.at(at[0]-1) == '+' {
			continue
		}
		for i := at[0]; i < at[1]; i++ {
			barred[i] = true
		}
	}
	return barred
}

// findPhonesIn finds numbers in a run of groups of digits. A number begins with the run, or with a
// group that numbers begin with.
func (t *text) findPhonesIn(groups []group, in countries) {
	for first := 0; first < len(groups); first++ {
		before := t.at(groups[first].from - 1)
		trunk := t.runes[groups[first].from] == '0' && groups[first].length() > 1
		if first > 0 && before != '+' && before != '(' && !trunk {
			continue
		}
		for last := min(len(groups), first+maxPhoneGroups) - 1; last >= first; last-- {
			from, found := t.isPhone(groups[first:last+1], last+1 == len(groups), in)
			if found {
				t.add(Phone, from, groups[last].to)
				first = last
				break
			}
		}
	}
}

// isPhone reports whether some groups are a telephone number, and where it begins. whole says that
// no more groups follow.
func (t *text) isPhone(groups []group, whole bool, in countries) (from int, found bool) {
	from, to := groups[0].from, groups[len(groups)-1].to
	closed := slices.Contains(t.runes[from:to], ')')
	if t.at(from-1) == '(' && closed {
		from--
	}
	plus := t.at(from-1) == '+'
	if plus {
		from--
	}
	if plus && t.at(from-1) == '(' && closed {
		from--
	}
	digits := t.digits(groups)
	if len(digits) < minPhoneDigits || len(digits) > maxPhoneDigits || isWord(t.at(from-1)) || isWord(t.at(to)) {
		return from, false
	}
	if t.parsed++; t.parsed > maxParsed {
		return from, plus || digits[0] == '0' || in.any && len(digits) >= minNationalDigits
	}
	if plus {
		return from, isInternational(digits, to-groups[0].from > len(digits))
	}
	if rest, ok := strings.CutPrefix(digits, "00"); ok && isInternational(rest, false) {
		return from, true
	}
	return from, t.isNational(groups, from, whole, in)
}

// isInternational reports whether digits behind a + are a telephone number. Some groups are enough
// for one that is not assigned: it may be mistyped.
func isInternational(digits string, grouped bool) bool {
	number, err := phonenumbers.Parse("+"+digits, "")
	if err != nil {
		return false
	}
	return phonenumbers.IsValidNumber(number) || (grouped || len(digits) >= 11) && phonenumbers.IsPossibleNumber(number)
}

// isNational reports whether some groups are a telephone number of one of some countries, as it is
// dialled within the country. A number that can be one is taken for one when a word says so, when
// it begins as only telephone numbers do, or when it is grouped as they are.
func (t *text) isNational(groups []group, from int, whole bool, in countries) bool {
	to := groups[len(groups)-1].to
	before, after := t.at(from-1), t.at(to)
	if (before == '.' || before == ',') && isDigit(t.at(from-2)) || after == ',' && isDigit(t.at(to+1)) {
		return false
	}
	if t.runes[from] == '0' && t.at(from+1) == '.' || t.isAmount(from, to) {
		return false
	}
	digits := t.digits(groups)
	announced, other := t.announced(from)
	if !announced && (other || len(digits) < minNationalDigits) {
		return false
	}
	certain := announced || digits[0] == '0' // amounts and counts begin with another digit
	if certain && in.any {
		return len(digits) <= maxNationalDigits
	}
	certain = certain || in.any && t.isAlone(groups)
	grouped := whole && len(groups) > 1 && !(in.any && t.isCount(groups))
	plain := in.any && len(digits) == plainDigits
	return slices.ContainsFunc(in.regions, func(region string) bool {
		plain := plain && slices.Contains(plainRegions, region)
		if !certain && !grouped && !plain {
			return false
		}
		t.parsed++
		number, err := phonenumbers.Parse(digits, region)
		return err == nil && phonenumbers.IsValidNumberForRegion(number, region) && (certain || plain || isGroupedAs(groups, number))
	})
}

// isAlone reports whether a text is nothing but a number in one, as the answer to a question is.
func (t *text) isAlone(groups []group) bool {
	means := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return len(groups) == 1 && groups[0].length() >= minAloneDigits && groups[0].length() <= maxAloneDigits &&
		!slices.ContainsFunc(t.runes[:groups[0].from], means) && !slices.ContainsFunc(t.runes[groups[0].to:], means)
}

// isCount reports whether groups are as in 2024-2025 and 12.345.678, which are rather no telephone
// numbers.
func (t *text) isCount(groups []group) bool {
	if len(groups) == 2 {
		return groups[0].length() == 4 && groups[1].length() == 4
	}
	for _, g := range groups[1:] {
		if g.length() != 3 || t.at(g.from-1) != '.' {
			return false
		}
	}
	return groups[0].length() < 3
}

// isGroupedAs reports whether groups are those in which the number is usually written.
func isGroupedAs(groups []group, number *phonenumbers.PhoneNumber) bool {
	var usual []int
	for _, part := range strings.FieldsFunc(phonenumbers.Format(number, phonenumbers.NATIONAL), func(r rune) bool { return !isDigit(r) }) {
		usual = append(usual, len(part))
	}
	written := make([]int, len(groups))
	for i, g := range groups {
		written[i] = g.length()
	}
	if len(written) == len(usual)+1 && written[0] == 1 { // 1-800-…: the country's code of North America
		written = written[1:]
	}
	threes := len(written) == 3 && written[0] == 3 && written[1] == 3 && written[2] == 3
	return len(written) > 1 && slices.Equal(written, usual) || threes
}

// announced returns whether the nearest word before a number says that it is one of a telephone, or
// that it is another number.
func (t *text) announced(from int) (phone, other bool) {
	start := max(0, from-contextRunes)
	context := strings.ToLower(string(t.runes[start:from]))
	phoneAt, otherAt := lastWord(context, phoneWords), lastWord(context, otherWords)
	return phoneAt > otherAt, otherAt > phoneAt
}

// lastWord returns where the last of some words begins in a text; -1: none is there.
func lastWord(in string, words []string) int {
	last := -1
	for _, word := range words {
		for end := len(in); end > 0; {
			at := strings.LastIndex(in[:end], word)
			if at <= last {
				break
			}
			if isWordStart(in, at) {
				last = at
				break
			}
			end = at + len(word) - 1
		}
	}
	return last
}

// isWordStart reports whether a word begins at an offset.
func isWordStart(in string, at int) bool {
	if at == 0 {
		return true
	}
	return !(in[at-1] >= 'a' && in[at-1] <= 'z') // scripts without spaces have no beginnings
}

// isAmount reports whether a sign of a currency or a unit stands beside a number.
func (t *text) isAmount(from, to int) bool {
	end := min(len(t.runes), to+8)
	after := strings.ToLower(strings.TrimLeft(string(t.runes[to:end]), " "))
	before := strings.ToLower(strings.TrimRight(string(t.runes[max(0, from-8):from]), " "))
	for _, unit := range units {
		rest, found := strings.CutPrefix(after, unit)
		if found && (rest == "" || !unicode.IsLetter([]rune(rest)[0]) || len(unit) > 3) {
			return true
		}
		if strings.HasSuffix(before, unit) {
			return true
		}
	}
	return false
}
