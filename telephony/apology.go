package telephony

import (
	"parlance.dev/parlance/platform/langtag"
	"parlance.dev/parlance/provider/carrier"
)

// apologies are by base language.
var apologies = map[string]string{
	"en": "Sorry, we cannot talk right now. Goodbye.",
	"de": "Entschuldigung, wir können gerade nicht sprechen. Auf Wiederhören.",
	"fr": "Désolés, nous ne pouvons pas parler maintenant. Au revoir.",
	"es": "Lo sentimos, ahora no podemos hablar. Adiós.",
	"it": "Ci dispiace, in questo momento non possiamo parlare. Arrivederci.",
	"pt": "Desculpe, não podemos falar agora. Adeus.",
	"nl": "Sorry, we kunnen nu niet praten. Tot ziens.",
}

// apology is what somebody hears who was called, and gets no session: in the language of a tag, or
// in English.
func apology(tag string) carrier.Speak {
	if text, known := apologies[langtag.Base(tag)]; known {
		return carrier.Speak{Text: text, Language: tag}
	}
	return carrier.Speak{Text: apologies["en"], Language: "en"}
}
