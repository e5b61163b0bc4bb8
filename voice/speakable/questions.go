package speakable

import "strings"

// questions are the words with which values are asked for and given in a language. Phrases are in
// lower case, see spokenWords.has.
type questions struct {
	// A sentence is a request if it begins with one of open, a question also if it has one of askers
	// in its first three words or has no verb and begins with one of ellipses, and any other sentence
	// if it has one of requests and does not begin with one of closed. fillers at the beginning do
	// not count, asides are left out.
	open, askers, ellipses, requests, closed, fillers, asides []string
	// pronouns stand for a value that the sentence before has named.
	pronouns []string
	please   string

	// Words for the kinds of values. anyNumber is one of a phone with a word of reach.
	spelling, counting, email, phone, birth, number, date, amount, anyNumber, reach []string
	// digitSuffix is the end of "six-digit"; beforeDigits and afterDigits are words beside a number of
	// digits ("last four", "three digits"); lengths are the digits of a number by its name.
	digitSuffix               string
	beforeDigits, afterDigits []string
	lengths                   map[string]int

	// refusals are answers without the value, dangling are words at the end of the beginning of one,
	// waiting tell that the value will come, no is a refusal alone.
	refusals, dangling, waiting []string
	no                          string

	// numbers are the names of 0 to 19, tens of 20 to 90; joined is between a digit and a ten in one
	// word ("einundzwanzig").
	numbers, zeros, tens            []string
	joined, hundred, double, triple string
	// A word is an ordinal if it is one of ordinals with one of ordinalEndings, or ends with one of
	// ordinalSuffixes.
	ordinals, ordinalEndings, ordinalSuffixes []string

	// months and days are words of dates; centuries are the first half of a year.
	months, days, centuries []string
	at, asIn                []string
	dot                     string
	// phonePrefixes are how many digits a phone number has by its beginning, shortestPhone any other.
	phonePrefixes map[string]int
	shortestPhone int
}

// questionsOf returns the words of a language, or nil.
func questionsOf(language string) *questions {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch base {
	case "en":
		return &englishQuestions
	case "de":
		return &germanQuestions
	}
	return nil
}

// list makes a list of phrases that are separated by commas.
func list(phrases string) []string {
	all := strings.Split(phrases, ",")
	for i, one := range all {
		all[i] = strings.Join(strings.Fields(one), " ")
	}
	return all
}

var englishQuestions = questions{
	open: list(`is there a, is there an, can you, can i have, can i get, can i grab, could you, could i, may i have, may i ask,
		may i get, might i, do you have your, do you have the, do you have a, would you mind, would you give, would you tell,
		would you spell, would you read, would you be able, will you tell, will you give, let me get your, let me have your,
		let me take your, let me take down`),
	askers:   list("what, what's, which, when, where, who, how"),
	ellipses: list("and your, and the, and a, your, the, spell"),
	requests: list(`tell me, give me, read me, read out, read it, say, spell, enter, please, i need, i'll need, i will need,
		i would need, just need, only need, i'll take, go ahead with, start with your, missing`),
	closed: list(`please check, please hold, please wait, please look, please see, please note, please keep, please stay, you can,
		you'll, i will, i'll text, i'll send, your, let me`),
	fillers: list(`and, so, okay, ok, great, thanks, thank you, sure, perfect, then, well, now, sorry, alright then, alright,
		all right, got it, for security, one more thing`),
	asides: list(`from your email, from the email, in your email, in the email, by email, on the phone, by phone, by text message,
		from the text message`),
	pronouns: list("it, that, them, one"),
	please:   "please",

	spelling: list("spell, spelling, spelled, letter by letter"),
	counting: list("how many, how much, how old"),
	email:    list("email, e-mail, emails, mail address"),
	phone: list(`phone number, telephone number, mobile number, mobile, cell number, cell phone, cell, callback number,
		contact number, landline, which phone, what phone, daytime phone, home phone, work phone`),
	birth: list("date of birth, birthday, birth date, birthdate, born"),
	number: list(`code, meter, pin, zip, zip code, postcode, postal code, digits, iban, reference, last four, last 4, ssn,
		social security, vin, confirmation number`),
	date:        list(`date, day, days, when, birthday`),
	amount:      list("amount, quantity"),
	anyNumber:   list("number, numbers"),
	reach:       list("reach, call, text, contact, callback"),
	digitSuffix: "-digit", beforeDigits: list("last, first"),
	afterDigits: list("digits, digit"),
	lengths:     map[string]int{"zip": 5, "zip code": 5, "pin": 4, "iban": 15, "card number": 15, "cvv": 3, "cvc": 3},

	refusals: list(`don't have, do not have, haven't got, don't know, do not know, no idea, not sure, can't find, cannot find,
		don't remember, can't remember, forgot, lost it, never got`),
	dangling: list(`is, it's, its, and, at, the, my, a, um, uh, er, of, on, dot, dash, underscore, plus, then, number, in, to, from,
		so, for, double, triple, there's, are, with, or`),
	waiting: list("moment, second, let me, hold on, hang on, wait, looking, find it, get it"),
	no:      "no",
	numbers: list(`, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen,
		sixteen, seventeen, eighteen, nineteen`),
	zeros:   list("zero, oh, o, nought"),
	tens:    list("twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety"),
	hundred: "hundred", double: "double", triple: "triple",
	ordinals: list(`first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth, thirteenth,
		fourteenth, fifteenth, sixteenth, seventeenth, eighteenth, nineteenth, twentieth, thirtieth`),
	ordinalEndings: []string{""},

	months: list(`january, february, march, april, may, june, july, august, september, october, november, december, jan, feb, mar,
		apr, jun, jul, aug, sep, sept, oct, nov, dec`),
	days: list(`today, tomorrow, yesterday, tonight, monday, tuesday, wednesday, thursday, friday, saturday, sunday, mondays,
		weekend, week, weeks, days, months, month, anytime, any time, possible, asap, ago, now, morning, afternoon, evening`),
	centuries:     list("nineteen, twenty, hundred, thousand"),
	at:            list("at, @"),
	asIn:          list("in, like, for"),
	dot:           "dot",
	phonePrefixes: map[string]int{"1": 11}, shortestPhone: 10,
}

var germanQuestions = questions{
	open: list(`können sie, könnten sie, würden sie, darf ich ihre, darf ich um ihre, darf ich kurz, dürfte ich, kann ich ihre,
		sagen sie, nennen sie, geben sie, verraten sie, buchstabieren sie, haben sie die, haben sie ihre, haben sie eine,
		hätten sie, gibt es eine, gibt es ein, brauche ich, bräuchte ich, benötige ich`),
	askers:   list(`was, wie, wann, wo, wohin, wer, welche, welcher, welches, welchem, welchen, wieviel, wieviele`),
	ellipses: list("und ihre, und ihr, und die, und das, und der, ihre, die"),
	requests: list(`nennen sie, sagen sie mir, geben sie, lesen sie, verraten sie, teilen sie, diktieren sie, sprechen sie,
		tippen sie, buchstabieren, ich brauche, ich bräuchte, ich benötige, brauche ich, bräuchte ich, benötige ich, notiere ich,
		ich notiere, bitte, vorlesen, durchgeben, fehlt, fehlen`),
	closed: list(`bitte schauen sie in, bitte prüfen, bitte warten, bitte bleiben, bitte beachten, bitte sehen`),
	fillers: list(`und, also, okay, ok, gut, danke, vielen dank, sehr gut, super, prima, perfekt, dann, alles klar, zur sicherheit,
		noch eine frage, verzeihung, entschuldigung, jetzt`),
	asides: list(`aus der e-mail, aus ihrer e-mail, in der e-mail, in ihrer e-mail, per e-mail, am telefon, per telefon,
		aus der sms, per sms`),
	pronouns: list("es, das, er, sie, drin, darin, da"),
	please:   "bitte",

	spelling: list("buchstabieren, buchstabiere, schreibt man, schreibt sich, geschrieben, buchstabe für buchstabe"),
	counting: list("wie viele, wie viel, wieviele, wieviel, wie alt"),
	email:    list("e-mail, email, e-mail-adresse, emailadresse, e-mailadresse, email-adresse, mailadresse, mail-adresse, mail, mailen"),
	phone: list(`telefonnummer, handynummer, mobilnummer, rufnummer, rückrufnummer, mobilfunknummer, festnetznummer,
		welchem telefon, welches telefon, welchem handy`),
	birth: list("geburtsdatum, geburtstag, geboren, geburtsjahr"),
	number: list(`code, *code, *ziffer, zähler, pin, tan, postleitzahl, plz, ziffern, stellen, iban, *nummer, zählerstand, kennwort,
		referenz, kennzeichen, aktenzeichen`),
	date:        list("datum, *datum, tag, tagen, termin, wann"),
	amount:      list("betrag, summe, menge"),
	anyNumber:   list("nummer"),
	reach:       list("erreichen, erreicht, anrufen, zurückrufen, sms, rückfragen, erreichbar"),
	digitSuffix: "stellig", beforeDigits: list("letzten, ersten"),
	afterDigits: list("ziffern, stellen"),
	lengths:     map[string]int{"postleitzahl": 5, "plz": 5, "pin": 4, "iban": 20, "kartennummer": 15, "tan": 6},

	refusals: list(`nicht dabei, nicht zur hand, weiß ich nicht, weiß nicht, keine ahnung, habe ich nicht, hab ich nicht,
		habe ich leider nicht, habe leider keine, habe keine, hab keine, ich leider keine, finde ich nicht, finde sie nicht,
		vergessen, verloren, nicht bekommen`),
	dangling: list(`ist, lautet, und, äh, ähm, ät, at, die, der, das, den, dem, meine, mein, punkt, minus, strich, am, im, vom, von,
		um, bis, plus, dann, nummer, eine, ein, sind, sich, mit, oder, in, also`),
	waiting: list("moment, sekunde, augenblick, warten sie, warte, schaue nach, ich schaue, ich schau, ich suche, gleich"),
	no:      "nein",
	numbers: list(`, eins, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf, dreizehn, vierzehn, fünfzehn,
		sechzehn, siebzehn, achtzehn, neunzehn`),
	zeros:  list("null, zwo, ein"),
	tens:   list("zwanzig, dreißig, vierzig, fünfzig, sechzig, siebzig, achtzig, neunzig"),
	joined: "und", hundred: "hundert", double: "doppel", triple: "dreimal",
	ordinals: list(`erst, zweit, zwot, dritt, viert, fünft, sechst, siebt, siebent, acht, neunt, zehnt, elft, zwölft, dreizehnt,
		vierzehnt, fünfzehnt, sechzehnt, siebzehnt, achtzehnt, neunzehnt`),
	ordinalEndings:  list("e, en, er, em"),
	ordinalSuffixes: list("zigste, zigsten, zigster, ßigste, ßigsten, ßigster"),

	months: list("januar, jänner, februar, märz, april, mai, juni, juli, august, september, oktober, november, dezember"),
	days: list(`heute, morgen, übermorgen, gestern, vorgestern, montag, dienstag, mittwoch, donnerstag, freitag, samstag, sonnabend,
		sonntag, woche, wochen, wochenende, tagen, monat, monate, monaten, jederzeit, möglich, sofort, vormittag, nachmittag, abend`),
	centuries:     list("neunzehnhundert, zweitausend, hundert"),
	at:            list("ät, at, @, klammeraffe"),
	asIn:          list("wie"),
	dot:           "punkt",
	phonePrefixes: map[string]int{"01": 10}, shortestPhone: 8,
}
