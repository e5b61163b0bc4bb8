package extractive

import (
	"strings"
	"unicode"
)

// phrases are what the responder says in one language.
type phrases struct {
	// nothing says that no passage answers, self what the responder is.
	nothing, self string
	// hello asks for a question, welcome answers thanks, goodbye a goodbye.
	hello, welcome, goodbye string
}

// inEnglish is said where a language has no phrases, or cannot be told.
const inEnglish = "en"

var phrasesOf = map[string]phrases{
	inEnglish: {
		"I have no passage about that in my knowledge base.",
		"I am the built-in extractive responder, not a language model: I quote your knowledge base and run tools with " +
			"/tool <slug> {json}.",
		"Hello! Ask me something about my knowledge base.", "You are welcome. Ask me again any time.", "Goodbye!",
	},
	"de": {
		"Dazu habe ich keinen Abschnitt in meiner Wissensbasis.",
		"Ich bin die eingebaute Antwortfunktion und kein Sprachmodell: Ich zitiere die Wissensbasis.",
		"Guten Tag! Fragen Sie mich etwas zu meiner Wissensbasis.", "Gern geschehen. Fragen Sie jederzeit wieder.", "Auf Wiedersehen!",
	},
	"fr": {
		"Je n'ai aucun passage à ce sujet dans ma base de connaissances.",
		"Je suis le répondeur intégré et non un modèle de langage : je cite la base de connaissances.",
		"Bonjour ! Posez-moi une question sur ma base de connaissances.", "Je vous en prie. À votre disposition.", "Au revoir !",
	},
	"es": {
		"No tengo ningún pasaje sobre eso en mi base de conocimientos.",
		"Soy el respondedor integrado y no un modelo de lenguaje: cito la base de conocimientos.",
		"¡Hola! Pregúntame algo sobre mi base de conocimientos.", "De nada. Pregunta cuando quieras.", "¡Adiós!",
	},
	"it": {
		"Non ho alcun passaggio su questo nella mia base di conoscenza.",
		"Sono il risponditore integrato e non un modello linguistico: cito la base di conoscenza.",
		"Buongiorno! Fammi una domanda sulla mia base di conoscenza.", "Prego. Chiedi pure quando vuoi.", "Arrivederci!",
	},
	"pt": {
		"Não tenho nenhuma passagem sobre isso na minha base de conhecimento.",
		"Sou o respondedor integrado e não um modelo de linguagem: cito a base de conhecimento.",
		"Olá! Pergunte-me algo sobre a minha base de conhecimento.", "De nada. Pergunte sempre que quiser.", "Até logo!",
	},
	"nl": {
		"Daarover heb ik geen passage in mijn kennisbank.",
		"Ik ben de ingebouwde antwoorder en geen taalmodel: ik citeer de kennisbank.",
		"Hallo! Stel me een vraag over mijn kennisbank.", "Graag gedaan. Vraag gerust nog eens.", "Tot ziens!",
	},
	"sv": {
		"Jag har inget avsnitt om det i min kunskapsbas.",
		"Jag är den inbyggda svararen och ingen språkmodell: jag citerar kunskapsbasen.",
		"Hej! Fråga mig något om min kunskapsbas.", "Varsågod. Fråga gärna igen.", "Hej då!",
	},
	"no": {
		"Jeg har ikke noe avsnitt om det i kunnskapsbasen min.",
		"Jeg er den innebygde svareren og ingen språkmodell: jeg siterer kunnskapsbasen.",
		"Hei! Spør meg om noe i kunnskapsbasen min.", "Bare hyggelig. Spør gjerne igjen.", "Ha det!",
	},
	"da": {
		"Jeg har intet afsnit om det i min vidensbase.",
		"Jeg er den indbyggede svarer og ingen sprogmodel: jeg citerer vidensbasen.",
		"Hej! Spørg mig om noget i min vidensbase.", "Det var så lidt. Spørg endelig igen.", "Farvel!",
	},
	"fi": {
		"Tietokannassani ei ole kohtaa siitä.",
		"Olen sisäänrakennettu vastaaja enkä kielimalli: lainaan tietokantaa.",
		"Hei! Kysy minulta jotain tietokannastani.", "Ole hyvä. Kysy milloin vain uudestaan.", "Näkemiin!",
	},
	"hu": {
		"Erről nincs bekezdés a tudásbázisomban.",
		"A beépített válaszadó vagyok, nem nyelvi modell: a tudásbázisból idézek.",
		"Jó napot! Kérdezzen valamit a tudásbázisomról.", "Szívesen. Kérdezzen bármikor.", "Viszontlátásra!",
	},
	"ro": {
		"Nu am niciun pasaj despre asta în baza mea de cunoștințe.",
		"Sunt răspunsul integrat, nu un model lingvistic: citez baza de cunoștințe.",
		"Bună ziua! Întrebați-mă ceva despre baza mea de cunoștințe.", "Cu plăcere. Întrebați oricând.", "La revedere!",
	},
	"tr": {
		"Bilgi tabanımda bununla ilgili bir bölüm yok.",
		"Ben yerleşik yanıtlayıcıyım, bir dil modeli değilim: bilgi tabanından alıntı yaparım.",
		"Merhaba! Bana bilgi tabanım hakkında bir şey sorun.", "Rica ederim. İstediğiniz zaman yine sorun.", "Hoşça kalın!",
	},
	"ru": {
		"В моей базе знаний нет фрагмента об этом.",
		"Я встроенный автоответчик, а не языковая модель: я цитирую базу знаний.",
		"Здравствуйте! Спросите меня о чём-нибудь из моей базы знаний.", "Пожалуйста. Спрашивайте ещё.", "До свидания!",
	},
	"pl": {
		"W mojej bazie wiedzy nie ma fragmentu na ten temat.",
		"Jestem wbudowanym odpowiadaczem, a nie modelem językowym: cytuję bazę wiedzy.",
		"Dzień dobry! Zadaj mi pytanie dotyczące mojej bazy wiedzy.", "Proszę bardzo. Pytaj, kiedy chcesz.", "Do widzenia!",
	},
}

// phrasesFor are those of a language, or English ones.
func phrasesFor(code string) phrases {
	if p, ok := phrasesOf[code]; ok {
		return p
	}
	return phrasesOf[inEnglish]
}

// introduction asks for a question and says who answers; refusal says that no passage answers.
func (p phrases) introduction() string { return p.hello + " " + p.self }

func (p phrases) refusal() string { return p.nothing + " " + p.self }

// courtesy is a kind of words that have no subject.
type courtesy int

const (
	filler courtesy = iota + 1
	greeting
	thanks
	parting
)

// courteous are words of courtesy by kind and language.
var courteous = func() map[string]map[string]courtesy {
	all := map[string]map[string]courtesy{} // by word, then by language
	add := func(kind courtesy, language, words string) {
		for word := range strings.FieldsSeq(words) {
			if all[word] == nil {
				all[word] = map[string]courtesy{}
			}
			all[word][language] = kind
		}
	}
	add(greeting, inEnglish, "hello hi hey hiya howdy morning afternoon evening greetings")
	add(thanks, inEnglish, "thanks thank thx ty cheers")
	add(parting, inEnglish, "bye goodbye farewell cya")
	add(filler, inEnglish, "ok okay great cool fine super perfect good nice got it alright right understood helpful very that was is "+
		"this all a an lot so much you have day one and there how are your i see well done excellent wonderful yes no sure for the help again "+
		"later everyone everybody doing today me my see to u too really just awesome brilliant lovely")
	add(greeting, "de", "hallo guten tag morgen abend moin servus grüß grüezi")
	add(thanks, "de", "danke dank dankeschön")
	add(parting, "de", "tschüss tschüß wiedersehen ciao")
	add(filler, "de", "ok gut super prima sehr vielen schön schöne schönen besten herzlichen auf gott alles klar verstanden dir ihnen "+
		"noch einen das war")
	add(greeting, "fr", "bonjour salut bonsoir coucou")
	add(thanks, "fr", "merci")
	add(parting, "fr", "revoir adieu")
	add(filler, "fr", "beaucoup bien très au à bientôt bonne journée soirée d'accord parfait super tout le monde vous infiniment ok")
	add(greeting, "es", "hola buenos buenas días tardes noches")
	add(thanks, "es", "gracias")
	add(parting, "es", "adiós chao")
	add(filler, "es", "muchas mil hasta luego pronto perfecto vale bien muy ok de acuerdo todo")
	add(greeting, "it", "buongiorno buonasera salve ciao")
	add(thanks, "it", "grazie")
	add(parting, "it", "arrivederci")
	add(filler, "it", "mille tante molte molto bene perfetto va ok buona giornata")
	add(greeting, "pt", "olá oi bom boa dia tarde noite")
	add(thanks, "pt", "obrigado obrigada valeu")
	add(parting, "pt", "tchau adeus")
	add(filler, "pt", "muito até logo perfeito ok bem")
	add(greeting, "nl", "hallo hoi goedemorgen goedemiddag goedenavond dag")
	add(thanks, "nl", "bedankt dankjewel dank")
	add(parting, "nl", "doei ziens")
	add(filler, "nl", "je u wel tot heel erg prima goed oké ok")
	add(greeting, "sv", "hej hallå god morgon kväll")
	add(thanks, "sv", "tack")
	add(parting, "sv", "hejdå")
	add(filler, "sv", "så mycket bra då ok")
	add(greeting, "no", "hei heisann god morgen kveld")
	add(thanks, "no", "takk")
	add(filler, "no", "tusen for hjelpen mange bra ok")
	add(thanks, "da", "tak")
	add(parting, "da", "farvel")
	add(filler, "da", "mange for hjælpen godt ok")
	add(greeting, "fi", "moi terve hyvää huomenta päivää iltaa")
	add(thanks, "fi", "kiitos kiitti")
	add(parting, "fi", "näkemiin moikka")
	add(filler, "fi", "paljon hyvä selvä ok")
	add(greeting, "pl", "cześć witam dzień dobry wieczór")
	add(thanks, "pl", "dziękuję dzięki")
	add(parting, "pl", "widzenia")
	add(filler, "pl", "bardzo do dobrze ok")
	add(greeting, "ru", "привет здравствуйте здравствуй добрый день утро вечер доброе")
	add(thanks, "ru", "спасибо благодарю")
	add(parting, "ru", "пока свидания")
	add(filler, "ru", "большое вам до хорошо ок понятно")
	add(greeting, "tr", "merhaba selam günaydın iyi günler akşamlar")
	add(thanks, "tr", "teşekkürler teşekkür sağol")
	add(parting, "tr", "görüşürüz hoşçakal")
	add(filler, "tr", "ederim çok tamam")
	add(greeting, "hu", "szia helló jó napot reggelt estét")
	add(thanks, "hu", "köszönöm köszi")
	add(parting, "hu", "viszlát viszontlátásra")
	add(filler, "hu", "szépen nagyon rendben ok")
	add(greeting, "ro", "bună salut ziua seara dimineața")
	add(thanks, "ro", "mulțumesc mersi")
	add(parting, "ro", "revedere")
	add(filler, "ro", "mult foarte la bine ok")
	return all
}()

// courtesyOf answers what has no subject: a greeting, thanks, a goodbye. ok is false when a word is
// none of courtesy.
func courtesyOf(text string) (answer string, ok bool) {
	kind, language, votes := courtesy(0), "", map[string]int{}
	notInWord := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' }
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), notInWord)
	if len(words) == 0 {
		return "", false
	}
	for _, word := range words {
		kinds, known := courteous[word]
		if !known {
			return "", false
		}
		for code, one := range kinds {
			votes[code]++
			if one != filler {
				votes[code]++
			}
		}
	}
	for code, count := range votes {
		if language == "" || count > votes[language] || count == votes[language] && preferred(code, language) {
			language = code
		}
	}
	for _, word := range words {
		kind = max(kind, courteous[word][language])
	}
	said := phrasesFor(language)
	switch kind {
	case parting:
		return said.goodbye, true
	case thanks, filler:
		return said.welcome, true
	case greeting:
	}
	return said.introduction(), true
}

// preferred breaks ties between languages: English first, then by their codes.
func preferred(code, other string) bool {
	return code == inEnglish || other != inEnglish && code < other
}
