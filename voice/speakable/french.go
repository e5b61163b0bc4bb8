package speakable

var french = language{
	months: [12]string{
		"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre",
	},
	shortMonths: map[string]int{
		"janv": 1, "févr": 2, "fév": 2, "avr": 4, "juil": 7, "sept": 9, "oct": 10, "nov": 11, "déc": 12,
	},
	weekdays: map[string]string{
		"lun": "lundi", "mar": "mardi", "mer": "mercredi", "jeu": "jeudi", "ven": "vendredi", "sam": "samedi", "dim": "dimanche",
	},
	date: "{day} {month} {year}", firstDay: "premier",
	clock: clock{hour: "{h} heures", one: "{h} heure", minutes: "{h} heures {m}", after: []string{"heures", "h"}},

	dot: " point ", atSign: " arobase ", slash: " slash ", dash: " tiret ", underscore: " tiret du bas ", plus: " plus ",
	to: " à ", minus: "moins ", by: " par ", number: "numéro ", version: "version ",
	symbols: map[rune]string{
		'&': "et", '<': "inférieur à", '>': "supérieur à", '×': "fois", '*': "fois", '=': "égale", '+': "plus",
		'≈': "environ", '~': "environ", '§': "paragraphe", '@': "arobase",
		'°': "degrés", '%': "pour cent", '€': "euros", '$': "dollars", '£': "livres", '№': "numéro", '≥': "au moins", '≤': "au plus",
	},

	percent: "pour cent",
	currencies: map[string]currency{
		"USD": {"dollar", "dollars", "cent", "cents"}, "EUR": {"euro", "euros", "centime", "centimes"},
		"GBP": {"livre", "livres", "penny", "pence"}, "CHF": {"franc suisse", "francs suisses", "centime", "centimes"},
		"JPY": {"yen", "yens", "", ""},
	},
	cents: " et {n} {cents}", centsAlone: " {n}", ofMillions: " de",
	units: map[string][2]string{
		"km": {"kilomètre", "kilomètres"}, "m": {"mètre", "mètres"}, "cm": {"centimètre", "centimètres"},
		"mm": {"millimètre", "millimètres"},
		"kg": {"kilo", "kilos"}, "g": {"gramme", "grammes"}, "mg": {"milligramme", "milligrammes"}, "l": {"litre", "litres"},
		"L":  {"litre", "litres"},
		"ml": {"millilitre", "millilitres"}, "°C": {"degré", "degrés"}, "°": {"degré", "degrés"},
		"km/h": {"kilomètre heure", "kilomètres heure"},
		"kWh":  {"kilowattheure", "kilowattheures"}, "kW": {"kilowatt", "kilowatts"}, "W": {"watt", "watts"},
		"Ko": {"kilooctet", "kilooctets"},
		"Mo": {"mégaoctet", "mégaoctets"}, "Go": {"gigaoctet", "gigaoctets"}, "To": {"téraoctet", "téraoctets"}, "h": {"heure", "heures"},
		"min": {"minute", "minutes"}, "s": {"seconde", "secondes"}, "m²": {"mètre carré", "mètres carrés"},
		"m³": {"mètre cube", "mètres cubes"},
	},
	magnitudes: map[string]string{
		"M": "millions", "million": "million", "millions": "millions", "Md": "milliards",
		"milliards": "milliards",
	},
	per:      " par ",
	perWords: map[string]string{"h": "heure", "j": "jour", "an": "an"},

	ordinals: map[string]string{
		"1er": "premier", "1re": "première", "1ère": "première", "2e": "deuxième", "2ème": "deuxième", "3e": "troisième",
		"3ème": "troisième",
		"4e":   "quatrième", "5e": "cinquième", "6e": "sixième", "7e": "septième", "8e": "huitième", "9e": "neuvième", "10e": "dixième",
	},
	abbreviations: map[string]abbreviation{
		"p.ex.": {say: "par exemple"}, "c.-à-d.": {say: "c'est-à-dire"}, "c.àd.": {say: "c'est-à-dire"},
		"etc.": {say: "et cetera", ends: true},
		"m.":   {say: "Monsieur", before: upper}, "mm.": {say: "Messieurs", before: upper}, "mme": {say: "Madame"}, "mme.": {say: "Madame"},
		"env.": {say: "environ"},
		"n°":   {say: "numéro"}, "no.": {say: "numéro", before: digit}, "tél.": {say: "téléphone"}, "dr.": {say: "docteur"},
		"max.": {say: "maximum"},
		"min.": {say: "minimum"}, "av.": {say: "avenue", before: upper}, "bd.": {say: "boulevard", before: upper},
		"réf.": {say: "référence"},
		"art.": {say: "article", before: digit}, "p.": {say: "page", before: digit}, "cf.": {say: "voir"}, "st.": {}, "ste.": {},
	},
	codeWords: map[string]bool{
		"code": true, "numéro": true, "pin": true, "référence": true, "dossier": true,
		"facture": true, "compte": true,
		"client": true, "téléphone": true, "postal": true,
	},

	pairs: true,

	codeBlock: "Le texte contient un exemple de code.", image: "Image : ",
}
