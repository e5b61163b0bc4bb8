package speakable

var spanish = language{
	months: [12]string{
		"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
	},
	shortMonths: map[string]int{
		"ene": 1, "feb": 2, "abr": 4, "jun": 6, "jul": 7, "ago": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dic": 12,
	},
	weekdays: map[string]string{
		"lun": "lunes", "mar": "martes", "mié": "miércoles", "jue": "jueves", "vie": "viernes", "sáb": "sábado", "dom": "domingo",
	},
	date:  "{day} de {month} de {year}",
	clock: clock{hour: "{h} horas", one: "{h} horas", minutes: "{h} y {m}", after: []string{"horas", "hs", "h"}},

	dot: " punto ", atSign: " arroba ", slash: " barra ", dash: " guion ", underscore: " guion bajo ", plus: " más ",
	to: " a ", minus: "menos ", by: " por ", number: "número ", version: "versión ",
	symbols: map[rune]string{
		'&': "y", '<': "menor que", '>': "mayor que", '×': "por", '*': "por", '=': "igual a", '+': "más",
		'≈': "aproximadamente", '~': "aproximadamente", '§': "sección",
		'@': "arroba", '°': "grados", '%': "por ciento", '€': "euros", '$': "dólares", '£': "libras",
		'≥': "al menos", '≤': "como máximo",
	},

	percent: "por ciento",
	currencies: map[string]currency{
		"USD": {"dólar", "dólares", "centavo", "centavos"}, "EUR": {"euro", "euros", "céntimo", "céntimos"},
		"GBP": {"libra", "libras", "penique", "peniques"}, "CHF": {"franco suizo", "francos suizos", "céntimo", "céntimos"},
		"JPY": {"yen", "yenes", "", ""},
	},
	cents: " con {n} {cents}", centsAlone: " con {n}", ofMillions: " de",
	units: map[string][2]string{
		"km": {"kilómetro", "kilómetros"}, "m": {"metro", "metros"}, "cm": {"centímetro", "centímetros"},
		"mm": {"milímetro", "milímetros"},
		"kg": {"kilo", "kilos"}, "g": {"gramo", "gramos"}, "mg": {"miligramo", "miligramos"}, "l": {"litro", "litros"},
		"L":  {"litro", "litros"},
		"ml": {"mililitro", "mililitros"}, "°C": {"grado", "grados"}, "°": {"grado", "grados"},
		"km/h": {"kilómetro por hora", "kilómetros por hora"},
		"kWh":  {"kilovatio hora", "kilovatios hora"}, "kW": {"kilovatio", "kilovatios"}, "W": {"vatio", "vatios"},
		"KB": {"kilobyte", "kilobytes"},
		"MB": {"megabyte", "megabytes"}, "GB": {"gigabyte", "gigabytes"}, "TB": {"terabyte", "terabytes"}, "h": {"hora", "horas"},
		"min": {"minuto", "minutos"}, "s": {"segundo", "segundos"}, "m²": {"metro cuadrado", "metros cuadrados"},
		"m³": {"metro cúbico", "metros cúbicos"},
	},
	magnitudes: map[string]string{"M": "millones", "millón": "millón", "millones": "millones"},
	per:        " por ",
	perWords:   map[string]string{"h": "hora"},

	ordinals: map[string]string{
		"1.º": "primero", "1º": "primero", "1.ª": "primera", "1ª": "primera", "2.º": "segundo", "2º": "segundo", "2.ª": "segunda",
		"2ª":  "segunda",
		"3.º": "tercero", "3º": "tercero", "3.ª": "tercera", "3ª": "tercera", "4.º": "cuarto", "4º": "cuarto", "4ª": "cuarta",
		"5.º": "quinto",
		"5º":  "quinto", "5ª": "quinta", "1.er": "primer", "3.er": "tercer",
	},
	abbreviations: map[string]abbreviation{
		"p.ej.": {say: "por ejemplo"}, "etc.": {say: "etcétera", ends: true}, "sr.": {say: "señor"}, "sra.": {say: "señora"},
		"srta.": {say: "señorita"},
		"sres.": {say: "señores"}, "dr.": {say: "doctor"}, "dra.": {say: "doctora"}, "d.": {say: "don", before: upper},
		"dña.":   {say: "doña"},
		"aprox.": {say: "aproximadamente"}, "núm.": {say: "número"}, "n.º": {say: "número"}, "nº": {say: "número"},
		"ud.":  {say: "usted", ends: true},
		"uds.": {say: "ustedes", ends: true}, "vd.": {say: "usted", ends: true}, "ee.uu.": {say: "Estados Unidos", ends: true}, "ee.": {},
		"pág.": {say: "página"}, "tel.": {say: "teléfono"}, "tfno.": {say: "teléfono"}, "avda.": {say: "avenida"},
		"av.":  {say: "avenida", before: upper},
		"máx.": {say: "máximo"}, "mín.": {say: "mínimo"}, "art.": {say: "artículo", before: digit}, "a.m.": {ends: true},
		"p.m.": {ends: true},
	},
	codeWords: map[string]bool{
		"código": true, "número": true, "pin": true, "referencia": true, "factura": true, "cuenta": true,
		"teléfono": true,
		"postal":   true, "clave": true,
	},
	phoneOfNine: true,

	codeBlock: "En el texto hay un ejemplo de código.", image: "Imagen: ",
}
