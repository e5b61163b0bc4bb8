package speakable

var portuguese = language{
	months: [12]string{
		"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro",
	},
	shortMonths: map[string]int{
		"jan": 1, "fev": 2, "abr": 4, "jun": 6, "jul": 7, "ago": 8, "set": 9, "out": 10, "nov": 11, "dez": 12,
	},
	weekdays: map[string]string{
		"seg": "segunda", "ter": "terça", "qua": "quarta", "qui": "quinta", "sex": "sexta", "sáb": "sábado", "dom": "domingo",
	},
	date: "{day} de {month} de {year}", firstDay: "primeiro",
	clock: clock{hour: "{h} horas", one: "{h} hora", minutes: "{h} e {m}", after: []string{"horas", "h"}},

	dot: " ponto ", atSign: " arroba ", slash: " barra ", dash: " hífen ", underscore: " underline ", plus: " mais ",
	to: " a ", minus: "menos ", by: " por ", number: "número ", version: "versão ",
	symbols: map[rune]string{
		'&': "e", '<': "menor que", '>': "maior que", '×': "vezes", '*': "vezes", '=': "igual a", '+': "mais",
		'≈': "aproximadamente", '~': "aproximadamente", '§': "parágrafo",
		'@': "arroba", '°': "graus", '%': "por cento", '€': "euros", '$': "dólares", '£': "libras", '≥': "pelo menos", '≤': "no máximo",
	},

	percent: "por cento",
	currencies: map[string]currency{
		"USD": {"dólar", "dólares", "centavo", "centavos"}, "EUR": {"euro", "euros", "cêntimo", "cêntimos"},
		"GBP": {"libra", "libras", "penny", "pence"}, "BRL": {"real", "reais", "centavo", "centavos"},
		"CHF": {"franco suíço", "francos suíços", "cêntimo", "cêntimos"}, "JPY": {"iene", "ienes", "", ""},
	},
	cents: " e {n} {cents}", ofMillions: " de",
	units: map[string][2]string{
		"km": {"quilômetro", "quilômetros"}, "m": {"metro", "metros"}, "cm": {"centímetro", "centímetros"},
		"mm": {"milímetro", "milímetros"},
		"kg": {"quilo", "quilos"}, "g": {"grama", "gramas"}, "mg": {"miligrama", "miligramas"}, "l": {"litro", "litros"},
		"L":  {"litro", "litros"},
		"ml": {"mililitro", "mililitros"}, "°C": {"grau", "graus"}, "°": {"grau", "graus"},
		"km/h": {"quilômetro por hora", "quilômetros por hora"},
		"kWh":  {"quilowatt-hora", "quilowatts-hora"}, "kW": {"quilowatt", "quilowatts"}, "W": {"watt", "watts"},
		"KB": {"kilobyte", "kilobytes"},
		"MB": {"megabyte", "megabytes"}, "GB": {"gigabyte", "gigabytes"}, "TB": {"terabyte", "terabytes"}, "h": {"hora", "horas"},
		"min": {"minuto", "minutos"}, "s": {"segundo", "segundos"}, "m²": {"metro quadrado", "metros quadrados"},
		"m³": {"metro cúbico", "metros cúbicos"},
	},
	magnitudes: map[string]string{
		"mil": "mil", "mi": "milhões", "milhão": "milhão", "milhões": "milhões", "bi": "bilhões",
		"bilhões": "bilhões",
	},
	per:      " por ",
	perWords: map[string]string{"h": "hora"},

	ordinals: map[string]string{
		"1º": "primeiro", "1.º": "primeiro", "1ª": "primeira", "1.ª": "primeira", "2º": "segundo", "2.º": "segundo",
		"2ª": "segunda", "3º": "terceiro",
		"3.º": "terceiro", "3ª": "terceira", "4º": "quarto", "4ª": "quarta", "5º": "quinto", "5ª": "quinta",
	},
	abbreviations: map[string]abbreviation{
		"p.ex.": {say: "por exemplo"}, "ex.": {say: "exemplo"}, "etc.": {say: "etcétera", ends: true}, "sr.": {say: "senhor"},
		"sra.": {say: "senhora"},
		"srs.": {say: "senhores"}, "dr.": {say: "doutor"}, "dra.": {say: "doutora"}, "prof.": {say: "professor"},
		"profa.": {say: "professora"},
		"aprox.": {say: "aproximadamente"}, "n.º": {say: "número"}, "nº": {say: "número"}, "tel.": {say: "telefone"},
		"pág.": {say: "página"},
		"av.":  {say: "avenida", before: upper}, "r.": {say: "rua", before: upper}, "máx.": {say: "máximo"}, "mín.": {say: "mínimo"},
		"art.": {say: "artigo", before: digit}, "ltda.": {ends: true}, "obs.": {say: "observação"},
	},
	codeWords: map[string]bool{
		"código": true, "número": true, "pin": true, "referência": true, "fatura": true, "conta": true,
		"telefone": true, "cep": true,
		"protocolo": true, "senha": true,
	},
	phoneOfNine: true,

	codeBlock: "No texto há um exemplo de código.", image: "Imagem: ",
}
