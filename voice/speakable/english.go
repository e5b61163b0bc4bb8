package speakable

var english = language{
	months: [12]string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
	},
	shortMonths: map[string]int{
		"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
	},
	weekdays: map[string]string{
		"Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday",
		"Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday",
	},
	date:       "{month} {day}, {year}",
	monthFirst: true,
	clock:      clock{twelve: true, after: []string{"hrs", "hours"}},

	dot: " dot ", atSign: " at ", slash: " slash ", dash: " dash ", underscore: " underscore ", plus: " plus ",
	to: " to ", minus: "minus ", by: " by ", number: "number ", version: "version ",
	symbols: map[rune]string{
		'&': "and", '<': "less than", '>': "greater than", '×': "times", '*': "times", '=': "equals", '+': "plus",
		'≈': "about", '~': "about", '§': "section", '@': "at",
		'°': "degrees", '%': "percent", '€': "euros", '$': "dollars", '£': "pounds", '№': "number", '÷': "divided by", '≥': "at least",
		'≤': "at most",
	},

	percent: "percent",
	currencies: map[string]currency{
		"USD": {"dollar", "dollars", "cent", "cents"}, "EUR": {"euro", "euros", "cent", "cents"},
		"GBP": {"pound", "pounds", "penny", "pence"}, "CHF": {"Swiss franc", "Swiss francs", "centime", "centimes"},
		"JPY": {"yen", "yen", "", ""}, "INR": {"rupee", "rupees", "paisa", "paise"}, "BRL": {"real", "reais", "centavo", "centavos"},
	},
	cents: " and {n} {cents}",
	units: map[string][2]string{
		"km": {"kilometer", "kilometers"}, "m": {"meter", "meters"}, "cm": {"centimeter", "centimeters"},
		"mm": {"millimeter", "millimeters"}, "mi": {"mile", "miles"}, "ft": {"foot", "feet"}, "yd": {"yard", "yards"},
		"kg": {"kilogram", "kilograms"}, "g": {"gram", "grams"}, "mg": {"milligram", "milligrams"}, "lb": {"pound", "pounds"},
		"lbs": {"pound", "pounds"}, "oz": {"ounce", "ounces"}, "l": {"liter", "liters"}, "L": {"liter", "liters"},
		"ml": {"milliliter", "milliliters"}, "mL": {"milliliter", "milliliters"}, "°C": {"degree Celsius", "degrees Celsius"},
		"°F": {"degree Fahrenheit", "degrees Fahrenheit"}, "°": {"degree", "degrees"},
		"km/h": {"kilometer per hour", "kilometers per hour"},
		"mph":  {"mile per hour", "miles per hour"}, "kWh": {"kilowatt hour", "kilowatt hours"}, "kW": {"kilowatt", "kilowatts"},
		"W": {"watt", "watts"}, "V": {"volt", "volts"}, "mAh": {"milliamp hour", "milliamp hours"}, "kB": {"kilobyte", "kilobytes"},
		"KB": {"kilobyte", "kilobytes"}, "MB": {"megabyte", "megabytes"}, "GB": {"gigabyte", "gigabytes"},
		"TB":   {"terabyte", "terabytes"},
		"Mbps": {"megabit per second", "megabits per second"}, "GHz": {"gigahertz", "gigahertz"}, "MHz": {"megahertz", "megahertz"},
		"h": {"hour", "hours"}, "hr": {"hour", "hours"}, "hrs": {"hours", "hours"}, "min": {"minute", "minutes"},
		"mins": {"minutes", "minutes"}, "s": {"second", "seconds"}, "sec": {"second", "seconds"}, "ms": {"millisecond", "milliseconds"},
		"m²": {"square meter", "square meters"}, "m³": {"cubic meter", "cubic meters"}, "sqm": {"square meter", "square meters"},
	},
	magnitudes: map[string]string{
		"k": "thousand", "K": "thousand", "thousand": "thousand", "M": "million", "m": "million", "mn": "million", "million": "million",
		"bn": "billion", "B": "billion", "billion": "billion", "trillion": "trillion",
	},
	per:      " per ",
	perWords: map[string]string{"mo": "month", "yr": "year", "hr": "hour", "h": "hour", "wk": "week", "min": "minute", "d": "day"},

	abbreviations: map[string]abbreviation{
		"e.g.": {say: "for example"}, "i.e.": {say: "that is"}, "etc.": {say: "et cetera", ends: true}, "vs.": {say: "versus"},
		"approx.": {say: "approximately"}, "dr.": {say: "Doctor"}, "mr.": {say: "Mister"}, "mrs.": {say: "Missus"}, "ms.": {say: "Miz"},
		"prof.": {say: "Professor"}, "st.": {}, "mt.": {}, "ft.": {before: upper}, "jr.": {ends: true}, "sr.": {ends: true},
		"inc.": {ends: true}, "ltd.": {ends: true}, "co.": {ends: true}, "corp.": {ends: true}, "dept.": {say: "department"},
		"est.": {before: digit}, "ext.": {say: "extension", before: digit}, "no.": {say: "number", before: digit},
		"nos.": {say: "numbers", before: digit}, "fig.": {say: "figure", before: digit}, "p.": {say: "page", before: digit},
		"pp.": {say: "pages", before: digit}, "vol.": {say: "volume", before: digit}, "ave.": {say: "avenue", ends: true},
		"blvd.": {say: "boulevard", ends: true}, "rd.": {say: "road", ends: true}, "a.m.": {say: "AM", ends: true},
		"p.m.": {say: "PM", ends: true}, "u.s.": {ends: true}, "u.k.": {ends: true}, "w/": {say: "with"}, "w/o": {say: "without"},
		"min.": {say: "minimum"}, "max.": {say: "maximum"}, "tel.": {say: "telephone"}, "incl.": {say: "including"}, "gen.": {},
		"mon.": {}, "tue.": {}, "wed.": {}, "thu.": {}, "fri.": {}, "gov.": {}, "sen.": {}, "rev.": {}, "hon.": {},
	},
	codeWords: map[string]bool{
		"ending": true, "code": true, "codes": true, "pin": true, "number": true, "id": true, "ticket": true, "reference": true,
		"account": true, "invoice": true, "tracking": true, "password": true, "zip": true, "extension": true, "ext": true,
		"dial": true, "booking": true, "card": true,
	},

	codeBlock: "There is a code example in the text.", image: "Picture: ",
}
