package speakable

var dutch = language{
	months: [12]string{
		"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december",
	},
	shortMonths: map[string]int{
		"jan": 1, "feb": 2, "mrt": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "okt": 10, "nov": 11, "dec": 12,
	},
	weekdays: map[string]string{
		"ma": "maandag", "di": "dinsdag", "wo": "woensdag", "do": "donderdag", "vr": "vrijdag", "za": "zaterdag", "zo": "zondag",
	},
	date:  "{day} {month} {year}",
	clock: clock{hour: "{h} uur", minutes: "{h} uur {m}", after: []string{"uur"}},

	dot: " punt ", atSign: " apenstaartje ", slash: " slash ", dash: " streepje ", underscore: " laag streepje ", plus: " plus ",
	to: " tot ", minus: "min ", by: " bij ", number: "nummer ", version: "versie ",
	symbols: map[rune]string{
		'&': "en", '<': "kleiner dan", '>': "groter dan", '×': "keer", '*': "keer", '=': "is", '+': "plus", '≈': "ongeveer",
		'~': "ongeveer", '§': "paragraaf", '@': "apenstaartje",
		'°': "graden", '%': "procent", '€': "euro", '$': "dollar", '£': "pond", '≥': "minstens", '≤': "hoogstens",
	},

	percent: "procent",
	currencies: map[string]currency{
		"USD": {"dollar", "dollar", "cent", "cent"}, "EUR": {"euro", "euro", "cent", "cent"}, "GBP": {"pond", "pond", "penny", "pence"},
		"CHF": {"Zwitserse frank", "Zwitserse frank", "centime", "centime"}, "JPY": {"yen", "yen", "", ""},
	},
	cents: " en {n} {cents}", centsAlone: " {n}",
	units: map[string][2]string{
		"km": {"kilometer", "kilometer"}, "m": {"meter", "meter"}, "cm": {"centimeter", "centimeter"}, "mm": {"millimeter", "millimeter"},
		"kg": {"kilo", "kilo"}, "g": {"gram", "gram"}, "mg": {"milligram", "milligram"}, "l": {"liter", "liter"}, "L": {"liter", "liter"},
		"ml": {"milliliter", "milliliter"}, "°C": {"graad", "graden"}, "°": {"graad", "graden"},
		"km/h": {"kilometer per uur", "kilometer per uur"},
		"kWh":  {"kilowattuur", "kilowattuur"}, "kW": {"kilowatt", "kilowatt"}, "W": {"watt", "watt"}, "KB": {"kilobyte", "kilobyte"},
		"MB": {"megabyte", "megabyte"}, "GB": {"gigabyte", "gigabyte"}, "TB": {"terabyte", "terabyte"}, "min": {"minuut", "minuten"},
		"s": {"seconde", "seconden"}, "u": {"uur", "uur"}, "m²": {"vierkante meter", "vierkante meter"},
		"m³": {"kubieke meter", "kubieke meter"},
	},
	magnitudes: map[string]string{"mln": "miljoen", "miljoen": "miljoen", "mld": "miljard", "miljard": "miljard"},
	per:        " per ",
	perWords:   map[string]string{"mnd": "maand", "u": "uur"},

	ordinals: map[string]string{
		"1e": "eerste", "1ste": "eerste", "2e": "tweede", "2de": "tweede", "3e": "derde", "3de": "derde", "4e": "vierde", "4de": "vierde",
		"5e": "vijfde", "5de": "vijfde",
	},
	abbreviations: map[string]abbreviation{
		"bijv.": {say: "bijvoorbeeld"}, "bv.": {say: "bijvoorbeeld"}, "d.w.z.": {say: "dat wil zeggen"},
		"enz.": {say: "enzovoort", ends: true},
		"etc.": {say: "etcetera", ends: true}, "o.a.": {say: "onder andere"}, "m.a.w.": {say: "met andere woorden"},
		"nr.":  {say: "nummer"},
		"dhr.": {say: "de heer"}, "mevr.": {say: "mevrouw"}, "mw.": {say: "mevrouw"}, "dr.": {say: "dokter"}, "ca.": {say: "circa"},
		"evt.": {say: "eventueel"}, "incl.": {say: "inclusief"}, "excl.": {say: "exclusief"}, "t/m": {say: "tot en met"},
		"a.u.b.": {say: "alstublieft", ends: true}, "m.b.t.": {say: "met betrekking tot"}, "i.v.m.": {say: "in verband met"},
		"t.a.v.": {say: "ter attentie van"}, "tel.": {say: "telefoon"}, "max.": {say: "maximaal"}, "min.": {say: "minimaal"},
		"blz.": {say: "bladzijde"}, "art.": {say: "artikel", before: digit}, "i.p.v.": {say: "in plaats van"},
		"z.s.m.": {say: "zo snel mogelijk"},
	},
	codeWords: map[string]bool{
		"code": true, "nummer": true, "pincode": true, "pin": true, "bestelnummer": true, "klantnummer": true, "ordernummer": true,
		"factuurnummer": true, "telefoonnummer": true, "referentie": true, "postcode": true,
	},

	codeBlock: "In de tekst staat een codevoorbeeld.", image: "Afbeelding: ",
}
