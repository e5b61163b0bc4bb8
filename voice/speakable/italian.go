package speakable

var italian = language{
	months: [12]string{
		"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre",
	},
	shortMonths: map[string]int{
		"gen": 1, "feb": 2, "apr": 4, "giu": 6, "lug": 7, "ago": 8, "set": 9, "sett": 9, "ott": 10, "nov": 11, "dic": 12,
	},
	weekdays: map[string]string{
		"lun": "lunedì", "mar": "martedì", "mer": "mercoledì", "gio": "giovedì", "ven": "venerdì", "sab": "sabato", "dom": "domenica",
	},
	date: "{day} {month} {year}", firstDay: "primo",
	clock: clock{hour: "{h}", minutes: "{h} e {m}"},

	dot: " punto ", atSign: " chiocciola ", slash: " barra ", dash: " trattino ", underscore: " trattino basso ", plus: " più ",
	to: " a ", minus: "meno ", by: " per ", number: "numero ", version: "versione ",
	symbols: map[rune]string{
		'&': "e", '<': "minore di", '>': "maggiore di", '×': "per", '*': "per", '=': "uguale a", '+': "più", '≈': "circa",
		'~': "circa", '§': "paragrafo", '@': "chiocciola",
		'°': "gradi", '%': "per cento", '€': "euro", '$': "dollari", '£': "sterline", '≥': "almeno", '≤': "al massimo",
	},

	percent: "per cento",
	currencies: map[string]currency{
		"USD": {"dollaro", "dollari", "centesimo", "centesimi"}, "EUR": {"euro", "euro", "centesimo", "centesimi"},
		"GBP": {"sterlina", "sterline", "penny", "penny"}, "CHF": {"franco svizzero", "franchi svizzeri", "centesimo", "centesimi"},
		"JPY": {"yen", "yen", "", ""},
	},
	cents: " e {n} {cents}", centsAlone: " e {n}", ofMillions: " di",
	units: map[string][2]string{
		"km": {"chilometro", "chilometri"}, "m": {"metro", "metri"}, "cm": {"centimetro", "centimetri"},
		"mm": {"millimetro", "millimetri"},
		"kg": {"chilo", "chili"}, "g": {"grammo", "grammi"}, "mg": {"milligrammo", "milligrammi"}, "l": {"litro", "litri"},
		"L":  {"litro", "litri"},
		"ml": {"millilitro", "millilitri"}, "°C": {"grado", "gradi"}, "°": {"grado", "gradi"},
		"km/h": {"chilometro all'ora", "chilometri all'ora"},
		"kWh":  {"chilowattora", "chilowattora"}, "kW": {"chilowatt", "chilowatt"}, "W": {"watt", "watt"}, "KB": {"kilobyte", "kilobyte"},
		"MB": {"megabyte", "megabyte"}, "GB": {"gigabyte", "gigabyte"}, "TB": {"terabyte", "terabyte"}, "h": {"ora", "ore"},
		"min": {"minuto", "minuti"}, "s": {"secondo", "secondi"}, "m²": {"metro quadrato", "metri quadrati"},
		"m³": {"metro cubo", "metri cubi"},
		"mq": {"metro quadrato", "metri quadrati"},
	},
	magnitudes: map[string]string{
		"mln": "milioni", "milione": "milione", "milioni": "milioni", "mld": "miliardi", "miliardo": "miliardo", "miliardi": "miliardi",
	},
	per:      " al ",
	perWords: map[string]string{"h": "ora"},

	ordinals: map[string]string{
		"1º": "primo", "1°": "primo", "1ª": "prima", "2º": "secondo", "2°": "secondo", "2ª": "seconda", "3º": "terzo",
		"3°": "terzo", "3ª": "terza",
		"4º": "quarto", "4°": "quarto", "4ª": "quarta", "5º": "quinto", "5°": "quinto", "5ª": "quinta",
	},
	abbreviations: map[string]abbreviation{
		"ades.": {say: "ad esempio"}, "p.es.": {say: "per esempio"}, "es.": {say: "esempio"}, "ecc.": {say: "eccetera", ends: true},
		"etc.": {say: "eccetera", ends: true}, "sig.": {say: "signor"}, "sig.ra": {say: "signora"}, "dott.": {say: "dottor"},
		"dott.ssa": {say: "dottoressa"},
		"prof.":    {say: "professor"}, "ing.": {say: "ingegner"}, "avv.": {say: "avvocato"}, "n.": {say: "numero", before: digit},
		"nr.": {say: "numero", before: digit},
		"ca.": {say: "circa"}, "pag.": {say: "pagina"}, "tel.": {say: "telefono"}, "max.": {say: "massimo"}, "min.": {say: "minimo"},
		"art.": {say: "articolo", before: digit}, "incl.": {say: "incluso"}, "s.p.a.": {ends: true}, "s.r.l.": {ends: true},
		"cfr.": {say: "confronta"},
	},
	codeWords: map[string]bool{
		"codice": true, "numero": true, "pin": true, "riferimento": true, "fattura": true, "conto": true,
		"telefono": true, "cap": true,
	},

	codeBlock: "Nel testo c'è un esempio di codice.", image: "Immagine: ",
}
