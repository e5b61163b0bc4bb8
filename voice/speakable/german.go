package speakable

var german = language{
	months: [12]string{
		"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember",
	},
	shortMonths: map[string]int{
		"jan": 1, "jän": 1, "feb": 2, "apr": 4, "aug": 8, "sep": 9, "sept": 9, "okt": 10, "nov": 11, "dez": 12,
	},
	weekdays: map[string]string{
		"Mo": "Montag", "Di": "Dienstag", "Mi": "Mittwoch", "Do": "Donnerstag", "Fr": "Freitag", "Sa": "Samstag", "So": "Sonntag",
	},
	date:       "{day}. {month} {year}",
	ordinalDot: true,
	clock:      clock{hour: "{h} Uhr", minutes: "{h} Uhr {m}", after: []string{"Uhr"}},

	dot: " punkt ", atSign: " ät ", slash: " slash ", dash: " minus ", underscore: " unterstrich ", plus: " plus ",
	to: " bis ", minus: "minus ", by: " mal ", number: "Nummer ", version: "Version ",
	symbols: map[rune]string{
		'&': "und", '<': "kleiner als", '>': "größer als", '×': "mal", '*': "mal", '=': "gleich", '+': "plus",
		'≈': "ungefähr", '~': "ungefähr", '§': "Paragraph", '@': "ät",
		'°': "Grad", '%': "Prozent", '€': "Euro", '$': "Dollar", '£': "Pfund", '№': "Nummer", '÷': "geteilt durch", '≥': "mindestens",
		'≤': "höchstens",
	},

	percent: "Prozent",
	currencies: map[string]currency{
		"USD": {"Dollar", "Dollar", "Cent", "Cent"}, "EUR": {"Euro", "Euro", "Cent", "Cent"}, "GBP": {"Pfund", "Pfund", "Penny", "Pence"},
		"CHF": {"Franken", "Franken", "Rappen", "Rappen"}, "JPY": {"Yen", "Yen", "", ""}, "INR": {"Rupie", "Rupien", "Paisa", "Paise"},
		"BRL": {"Real", "Reais", "Centavo", "Centavos"},
	},
	cents: " und {n} {cents}", centsAlone: " {n}",
	units: map[string][2]string{
		"km": {"Kilometer", "Kilometer"}, "m": {"Meter", "Meter"}, "cm": {"Zentimeter", "Zentimeter"}, "mm": {"Millimeter", "Millimeter"},
		"kg": {"Kilogramm", "Kilogramm"}, "g": {"Gramm", "Gramm"}, "mg": {"Milligramm", "Milligramm"}, "l": {"Liter", "Liter"},
		"L": {"Liter", "Liter"}, "ml": {"Milliliter", "Milliliter"}, "°C": {"Grad Celsius", "Grad Celsius"},
		"°F": {"Grad Fahrenheit", "Grad Fahrenheit"}, "°": {"Grad", "Grad"}, "km/h": {"Kilometer pro Stunde", "Kilometer pro Stunde"},
		"kWh": {"Kilowattstunde", "Kilowattstunden"}, "kW": {"Kilowatt", "Kilowatt"}, "W": {"Watt", "Watt"}, "V": {"Volt", "Volt"},
		"kB": {"Kilobyte", "Kilobyte"}, "KB": {"Kilobyte", "Kilobyte"}, "MB": {"Megabyte", "Megabyte"}, "GB": {"Gigabyte", "Gigabyte"},
		"TB": {"Terabyte", "Terabyte"}, "GHz": {"Gigahertz", "Gigahertz"}, "MHz": {"Megahertz", "Megahertz"}, "h": {"Stunde", "Stunden"},
		"Std": {"Stunde", "Stunden"}, "min": {"Minute", "Minuten"}, "Min": {"Minute", "Minuten"}, "s": {"Sekunde", "Sekunden"},
		"Sek": {"Sekunde", "Sekunden"}, "ms": {"Millisekunde", "Millisekunden"}, "m²": {"Quadratmeter", "Quadratmeter"},
		"m³": {"Kubikmeter", "Kubikmeter"}, "qm": {"Quadratmeter", "Quadratmeter"}, "ct": {"Cent", "Cent"},
	},
	magnitudes: map[string]string{
		"Tsd": "Tausend", "Mio": "Millionen", "Million": "Million", "Millionen": "Millionen", "Mrd": "Milliarden",
		"Milliarden": "Milliarden",
	},
	per:      " pro ",
	perWords: map[string]string{"h": "Stunde", "std": "Stunde", "mt": "Monat", "min": "Minute"},

	abbreviations: map[string]abbreviation{
		"z.b.": {say: "zum Beispiel"}, "d.h.": {say: "das heißt"}, "u.a.": {say: "unter anderem"}, "i.d.r.": {say: "in der Regel"},
		"u.u.": {say: "unter Umständen"}, "s.o.": {say: "siehe oben"}, "s.u.": {say: "siehe unten"},
		"o.ä.": {say: "oder ähnliches", ends: true},
		"v.a.": {say: "vor allem"}, "z.t.": {say: "zum Teil"}, "z.zt.": {say: "zurzeit"}, "m.e.": {say: "meines Erachtens"},
		"usw.": {say: "und so weiter", ends: true}, "etc.": {say: "et cetera", ends: true}, "bzw.": {say: "beziehungsweise"},
		"ca.": {say: "circa"}, "inkl.": {say: "inklusive"}, "exkl.": {say: "exklusive"}, "zzgl.": {say: "zuzüglich"},
		"ggf.":  {say: "gegebenenfalls"},
		"evtl.": {say: "eventuell"}, "vgl.": {say: "vergleiche"}, "max.": {say: "maximal"}, "min.": {say: "mindestens"},
		"mind.": {say: "mindestens"}, "nr.": {say: "Nummer"}, "tel.": {say: "Telefon"}, "dr.": {say: "Doktor"},
		"prof.": {say: "Professor"},
		"hr.":   {say: "Herr"}, "fr.": {say: "Frau", before: upper}, "frl.": {}, "st.": {say: "Sankt", before: upper},
		"abs.": {say: "Absatz", before: digit},
		"art.": {say: "Artikel", before: digit}, "s.": {say: "Seite", before: digit}, "bd.": {say: "Band", before: digit},
		"str.": {say: "Straße", ends: true},
		"mio.": {say: "Millionen"}, "mrd.": {say: "Milliarden"}, "tsd.": {say: "Tausend"}, "std.": {say: "Stunden", ends: true},
		"bspw.": {say: "beispielsweise"}, "sog.": {say: "sogenannte"}, "allg.": {say: "allgemein"}, "geb.": {say: "geboren"},
		"gem.": {say: "gemäß"}, "lt.": {say: "laut"}, "zw.": {say: "zwischen"}, "jh.": {say: "Jahrhundert", ends: true}, "mo.": {},
		"di.": {}, "mi.": {},
		"do.": {}, "sa.": {}, "so.": {before: digit}, "ing.": {}, "dipl.": {}, "abb.": {say: "Abbildung", before: digit},
		"kap.":   {say: "Kapitel", before: digit},
		"m.f.g.": {say: "mit freundlichen Grüßen"}, "p.a.": {say: "pro Jahr", ends: true}, "a.d.": {say: "an der"},
	},
	endings: map[string]string{"str.": "straße"},
	codeWords: map[string]bool{
		"code": true, "pin": true, "nummer": true, "nr": true, "kundennummer": true, "bestellnummer": true, "rechnungsnummer": true,
		"auftragsnummer": true, "vertragsnummer": true, "kontonummer": true, "telefonnummer": true, "rufnummer": true,
		"sendungsnummer": true,
		"ticket":         true, "kennwort": true, "durchwahl": true, "plz": true, "postleitzahl": true, "tan": true, "vorgangsnummer": true,
		"referenznummer": true, "zählernummer": true, "telefon": true, "tel": true, "bestätigungscode": true,
	},

	codeBlock: "Im Text steht dazu ein Codebeispiel.", image: "Bild: ",
}
