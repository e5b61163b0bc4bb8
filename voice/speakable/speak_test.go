package speakable_test

import (
	"testing"

	"parlance.dev/parlance/voice/speakable"
)

// row is a text and what a person would read aloud.
type row struct{ text, want string }

func check(t *testing.T, language string, rows []row) {
	t.Helper()
	for _, r := range rows {
		if got := speakable.Speak(r.text, language); got != r.want {
			t.Errorf("%s %q\n got %q\nwant %q", language, r.text, got, r.want)
		}
	}
}

func TestEnglish(t *testing.T) {
	t.Parallel()
	check(t, "en-US", []row{
		// Addresses.
		{"Write to ada@example.com.", "Write to ada at example dot com."},
		{
			"Mail john.o_neil-smith+news@mail.example.co.uk!",
			"Mail john dot o underscore neil dash smith plus news at mail dot example dot co dot uk!",
		},
		{"It is ada1985@example.org, right?", "It is ada 1985 at example dot org, right?"},
		{"See https://www.example.com/help.", "See example dot com slash help."},
		{"See https://example.com/getting-started/faq?utm=1#top now.", "See example dot com slash getting dash started slash faq now."},
		{"See https://example.com/a/b/c/d7f8e9 now.", "See example dot com now."},
		{"Visit www.example.com, please.", "Visit example dot com, please."},
		{"Visit example.com/pricing for prices.", "Visit example dot com slash pricing for prices."},
		{"Open README.md and Node.js.", "Open README.md and Node.js."},
		{"The server is 192.168.0.1.", "The server is 192 dot 168 dot 0 dot 1."},
		// Phone numbers.
		{"Call +1 (415) 555-2671.", "Call plus 1, 4 1 5, 5 5 5, 2 6 7 1."},
		{"Call 1-800-444-4141 today.", "Call 1, 8 0 0, 4 4 4, 4 1 4 1 today."},
		{"Call (415) 555-2671.", "Call 4 1 5, 5 5 5, 2 6 7 1."},
		{"Call 555-0123 or 415.555.2671.", "Call 5 5 5, 0 1 2 3 or 4 1 5, 5 5 5, 2 6 7 1."},
		{"Call +4930123456 now.", "Call plus 4 9 3, 0 1 2, 3 4 5 6 now."},
		// Digits.
		{"Your order number is 4711234.", "Your order number is 4 7 1, 1 2 3 4."},
		{"The code is 4711.", "The code is 4 7 1 1."},
		{"Please order 150 units by phone.", "Please order 150 units by phone."},
		{"The card ending in 4242 is valid.", "The card ending in 4 2 4 2 is valid."},
		{"Your PIN: 0815.", "Your PIN: 0 8 1 5."},
		{"Order AB-12345 is on its way.", "Order A B, 1 2 3 4 5 is on its way."},
		{"Ticket ORD-2024-0017 is closed.", "Ticket ORD, 2 0 2 4, 0 0 1 7 is closed."},
		{"Use the code X7K9Q2.", "Use the code X 7 K 9 Q 2."},
		{"The card 4111 1111 1111 1111 expires.", "The card 4 1 1 1, 1 1 1 1, 1 1 1 1, 1 1 1 1 expires."},
		{"IBAN DE89 3704 0044 0532 0130 00 is right.", "IBAN D E 8 9, 3 7 0 4, 0 0 4 4, 0 5 3 2, 0 1 3 0, 0 0 is right."},
		{"In 2024 we had 1,200 guests, 42 of them twice.", "In 2024 we had 1,200 guests, 42 of them twice."},
		{"About 10000 people, 3.5 times as many, and 0.75.", "About 10000 people, 3.5 times as many, and 0.75."},
		{"An MP3, a B2B deal, 5G and COVID-19.", "An MP3, a B2B deal, 5G and COVID-19."},
		// Money.
		{"It costs $3.50.", "It costs 3 dollars and 50 cents."},
		{"It costs $1, not $1.01.", "It costs 1 dollar, not 1 dollar and 1 cent."},
		{"Only $.50 by 1/15/26.", "Only 50 cents by January 15, 2026."},
		{"Pay $5/month or $49.99 per year.", "Pay 5 dollars per month or 49 dollars and 99 cents per year."},
		{"We raised $1.5 million and £2M.", "We raised 1.5 million dollars and 2 million pounds."},
		{"From $5–$10, or €5-10.", "From 5 dollars to 10 dollars, or 5 euros to 10."},
		{"That is £0.99 or USD 1,200.", "That is 99 pence or 1,200 dollars."},
		{"A balance of -$20 and 3 EUR.", "A balance of minus 20 dollars and 3 euros."},
		// Measures.
		{"A 5% discount, 12.5 % at most.", "A 5 percent discount, 12.5 percent at most."},
		{"It is 5 km or 1 km, 10kg and 500MB.", "It is 5 kilometers or 1 kilometer, 10 kilograms and 500 megabytes."},
		{
			"Keep it at 20 °C or 68°F, never at -5 °C.",
			"Keep it at 20 degrees Celsius or 68 degrees Fahrenheit, never at minus 5 degrees Celsius.",
		},
		{"A 10x20 grid at 50 km/h.", "A 10 by 20 grid at 50 kilometers per hour."},
		{"In the 90s, an iPhone 5s.", "In the 90s, an iPhone 5s."},
		// Dates and times.
		{"It is on 2026-11-27.", "It is on November 27, 2026."},
		{"It is on 11/27/2026, not 27/11/2026.", "It is on November 27, 2026, not November 27, 2026."},
		{"It is on 03/04/2026 or 3-4-2026.", "It is on March 4, 2026 or March 4, 2026."},
		{"At 2026-11-27T14:30:00Z it ended.", "At November 27, 2026, 2:30 PM UTC it ended."},
		{"There is no 2026-02-30.", "There is no 2026-02-30."},
		{"On Nov. 27 or Sep 3, 2026.", "On November 27 or September 3, 2026."},
		{"At 14:30, 9:30, 09:00 and 00:15.", "At 2:30 PM, 9:30, 9 AM and 12:15 AM."},
		{"At 2:30 pm. Or at 5 p.m. We close then.", "At 2:30 PM. Or at 5 PM. We close then."},
		{"Open 9:00–17:00 or 9am–5pm.", "Open 9:00 to 5 PM or 9 AM to 5 PM."},
		// Ranges and other signs.
		{"It takes 5–7 days, or 3-4 weeks.", "It takes 5 to 7 days, or 3 to 4 weeks."},
		{"From 2019-2023.", "From 2019 to 2023."},
		{"Read pages 10 - not 9.", "Read pages 10, not 9."},
		{"The 1st, the 22nd & #5.", "The 1st, the 22nd and number 5."},
		{"It was ~5 or 2 + 2 = 4.", "It was about 5 or 2 plus 2 equals 4."},
		{"Version 2.10.1 or v2.1.", "Version 2 dot 10 dot 1 or version 2.1."},
		{"Go to Settings → Privacy > Apps, if 5 > 3.", "Go to Settings, Privacy, Apps, if 5 greater than 3."},
		{"Track 1Z999AA10123456784.", "Track 1 Z 9 9, 9 A A 1, 0 1 2 3, 4 5 6 7, 8 4."},
		// Abbreviations.
		{"Fruit, e.g. apples, i.e. not nuts, etc.", "Fruit, for example apples, that is not nuts, et cetera."},
		{"Dr. Smith met Mr. and Mrs. Jones vs. nobody.", "Doctor Smith met Mister and Missus Jones versus nobody."},
		{"See No. 5. No. I will not.", "See number 5. No. I will not."},
		{"E.g. this.", "For example this."},
		// Hours.
		{"Open Mon-Fri 9am-5pm, Sat 10-2.", "Open Monday to Friday 9 AM to 5 PM, Saturday 10-2."},
		{"On Sat., Dec. 5 the sun sat low.", "On Saturday, December 5 the sun sat low."},
		// Emoji.
		{"Great 🎉! Thanks 👩‍👩‍👧 1️⃣ ✅", "Great! Thanks 1."},
		{"👍", ""},
	})
	check(t, "en-GB", []row{
		{"It is on 2026-11-27 or 01/02/2026.", "It is on 27 November 2026 or 1 February 2026."},
	})
}

func TestGerman(t *testing.T) {
	t.Parallel()
	check(t, "de-DE", []row{
		{"Schreiben Sie an ada@example.de.", "Schreiben Sie an ada ät example punkt de."},
		{"Siehe https://www.beispiel-shop.de/hilfe!", "Siehe beispiel minus shop punkt de slash hilfe!"},
		{"Rufen Sie 030 1234567 oder +49 (0)30 123456 an.", "Rufen Sie 0 3 0, 1 2 3, 4 5 6 7 oder plus 4 9, 0, 3 0, 1 2 3, 4 5 6 an."},
		{"Tel. 0171/1234567.", "Telefon 0 1 7 1, 1 2 3, 4 5 6 7."},
		{"Ihre Bestellnummer lautet 4711.", "Ihre Bestellnummer lautet 4 7 1 1."},
		{"12345 Berlin, 10000 Euro, 12345 Euro.", "1 2 3 4 5 Berlin, 10000 Euro, 12345 Euro."},
		{"Das kostet 3,50 €.", "Das kostet 3 Euro 50."},
		{"Das kostet 0,99 € oder 3,05 € oder 1.200,50 EUR.", "Das kostet 99 Cent oder 3 Euro und 5 Cent oder 1.200 Euro 50."},
		{"Nur 9,99 €/Monat statt 5 Mio. € im Jahr.", "Nur 9 Euro 99 pro Monat statt 5 Millionen Euro im Jahr."},
		{"Wir haben 3 Mio. Kunden.", "Wir haben 3 Millionen Kunden."},
		{"Mit 5 % Rabatt, 3,5 % Zins.", "Mit 5 Prozent Rabatt, 3,5 Prozent Zins."},
		{"Es sind 5 km bei -3 °C.", "Es sind 5 Kilometer bei minus 3 Grad Celsius."},
		{"Am 27.11.2026, am 01.02.26 und am 2026-11-27.", "Am 27. November 2026, am 1. Februar 2026 und am 27. November 2026."},
		{"Vom 3. 4. 2026 bis zum 27.11. bin ich weg.", "Vom 3. April 2026 bis zum 27. November bin ich weg."},
		{"Am 5. Mai um 14:30 Uhr.", "Am 5. Mai um 14 Uhr 30."},
		{"Um 9:05, um 14.30 Uhr und um 14:00.", "Um 9 Uhr 5, um 14 Uhr 30 und um 14 Uhr."},
		{"Geöffnet Mo.–Fr. 9–17 Uhr und Sa. 10:00.", "Geöffnet Montag bis Freitag 9 bis 17 Uhr und Samstag 10 Uhr."},
		{"Geöffnet 9–17 Uhr, Lieferung in 3-5 Tagen.", "Geöffnet 9 bis 17 Uhr, Lieferung in 3 bis 5 Tagen."},
		{"Obst, z. B. Äpfel, d.h. keine Nüsse usw.", "Obst, zum Beispiel Äpfel, das heißt keine Nüsse und so weiter."},
		{"Hauptstr. 5, bei Dr. Müller bzw. Prof. Abel.", "Hauptstraße 5, bei Doktor Müller beziehungsweise Professor Abel."},
		{"Nr. 7 inkl. MwSt. & Versand", "Nummer 7 inklusive MwSt. und Versand."},
		{"Z. B. so.", "Zum Beispiel so."},
		{"Version 3.12.1 im WLAN 6.", "Version 3 punkt 12 punkt 1 im WLAN 6."},
		{"Es gibt 1.200.000 Gründe.", "Es gibt 1.200.000 Gründe."},
	})
}

func TestFrench(t *testing.T) {
	t.Parallel()
	check(t, "fr-FR", []row{
		{"Écrivez à ada@example.fr.", "Écrivez à ada arobase example point fr."},
		{"Appelez le 01 23 45 67 89.", "Appelez le 0 1, 23, 45, 67, 89."},
		{"Cela coûte 3,50 €, 1 € ou 1 200 €.", "Cela coûte 3 euros 50, 1 euro ou 1 200 euros."},
		{"Un budget de 2 millions €.", "Un budget de 2 millions de euros."},
		{"Une remise de 5 %.", "Une remise de 5 pour cent."},
		{"Le 01/05/2026 et le 27/11/2026.", "Le premier mai 2026 et le 27 novembre 2026."},
		{"À 14h30, à 14 h et à 1h.", "À 14 heures 30, à 14 heures et à 1 heure."},
		{"De 5–7 jours, p. ex. lundi, c.-à-d. demain.", "De 5 à 7 jours, par exemple lundi, c'est-à-dire demain."},
		{"M. Dupont et Mme Durand au 2e étage, n° 5.", "Monsieur Dupont et Madame Durand au deuxième étage, numéro 5."},
		{"« Bonjour ! » 5 km/h", "« Bonjour! » 5 kilomètres heure."},
	})
}

func TestSpanish(t *testing.T) {
	t.Parallel()
	check(t, "es-ES", []row{
		{"Escriba a ada@example.es.", "Escriba a ada arroba example punto es."},
		{"Llame al 912 345 678.", "Llame al 9 1 2, 3 4 5, 6 7 8."},
		{"Cuesta 3,50 €, 1 € o $20.", "Cuesta 3 euros con 50, 1 euro o 20 dólares."},
		{"El 27/11/2026 a las 14:30 h.", "El 27 de noviembre de 2026 a las 14 y 30."},
		{"A las 14:00 con 5 % de descuento.", "A las 14 horas con 5 por ciento de descuento."},
		{"El Sr. García y la Sra. López, p. ej., de EE. UU.", "El señor García y la señora López, por ejemplo, de Estados Unidos."},
		{"La 1ª planta, n.º 5, de 5–7 días.", "La primera planta, número 5, de 5 a 7 días."},
	})
}

func TestItalian(t *testing.T) {
	t.Parallel()
	check(t, "it-IT", []row{
		{"Scriva a ada@example.it.", "Scriva a ada chiocciola example punto it."},
		{"Costa 3,50 €, 1 € o 2 mln €.", "Costa 3 euro e 50, 1 euro o 2 milioni di euro."},
		{"Il 01/05/2026 alle 14:30 o alle 14:00.", "Il primo maggio 2026 alle 14 e 30 o alle 14."},
		{"Il sig. Rossi, ad es., al 2° piano ecc.", "Il signor Rossi, ad esempio, al secondo piano eccetera."},
		{"Il 5 % in 5–7 giorni, 5 km.", "Il 5 per cento in 5 a 7 giorni, 5 chilometri."},
	})
}

func TestPortuguese(t *testing.T) {
	t.Parallel()
	check(t, "pt-BR", []row{
		{"Escreva para ada@example.com.br.", "Escreva para ada arroba example ponto com ponto br."},
		{"Custa R$ 3,50 ou 1 €.", "Custa 3 reais e 50 centavos ou 1 euro."},
		{"Em 27/11/2026 às 14h30 ou 14h.", "Em 27 de novembro de 2026 às 14 e 30 ou 14 horas."},
		{"O Sr. Silva, p. ex., com 5% de desconto etc.", "O senhor Silva, por exemplo, com 5 por cento de desconto etcétera."},
		{"De 5–7 dias, 5 km, 2ª via.", "De 5 a 7 dias, 5 quilômetros, segunda via."},
	})
}

func TestDutch(t *testing.T) {
	t.Parallel()
	check(t, "nl-NL", []row{
		{"Mail naar ada@example.nl.", "Mail naar ada apenstaartje example punt nl."},
		{"Het kost € 3,50 of € 0,99.", "Het kost 3 euro 50 of 99 cent."},
		{"Op 27-11-2026 om 14:30 uur of 14.00 uur.", "Op 27 november 2026 om 14 uur 30 of 14 uur."},
		{"Bel dhr. Jansen, bijv. ma t/m vr, enz.", "Bel de heer Jansen, bijvoorbeeld ma tot en met vr, enzovoort."},
		{"De 1e van 5–7 dagen, 5 %.", "De eerste van 5 tot 7 dagen, 5 procent."},
	})
}

func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	check(t, "pl", []row{
		{"**Cześć** 🎉, [strona](https://example.pl): 5% i 3,50 zł, $5.", "Cześć, strona: 5% i 3,50 zł, $5."},
		{"Zamówienie 4711234, ada@example.pl.", "Zamówienie 4 7 1, 1 2 3 4, ada@example.pl."},
	})
	check(t, "ja", []row{{"**こんにちは**。元気ですか？", "こんにちは。元気ですか？"}})
	check(t, "", []row{{"- One\n- Two", "One. Two."}})
	check(t, "not a language", []row{{"`Hi`", "Hi."}})
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	check(t, "en", []row{
		{"# Plans\n\nWe have **two** *plans*.", "Plans. We have two plans."},
		{"Plans\n=====\nTwo of ___them___.", "Plans. Two of them."},
		{
			"Do this:\n\n1. Open the app\n2. Tap `Send`\n\n- really\n* [x] done!\n",
			"Do this: 1: Open the app. 2: Tap Send. really. done!",
		},
		{
			"| Plan | Price |\n|------|------:|\n| Basic | $5 |\n| Pro | **$10** |\n",
			"Plan: Basic, Price: 5 dollars. Plan: Pro, Price: 10 dollars.",
		},
		{"Use this:\n```js\nlet x = 1;\n```\nThen run it.", "Use this: There is a code example in the text. Then run it."},
		{"See [the guide](https://example.com/a(b)) or <https://example.com>.", "See the guide or example dot com."},
		{"We ship daily.[1][2] Really[^3] 【4:0†source】.\n\n[1]: http://a.com\n[^3]: A note.", "We ship daily. Really."},
		{"![A red button](b.png)", "Picture: A red button."},
		{"> He said\n> so.", "He said, so."},
		{"Your address:\nMain Street 5\nSpringfield", "Your address: Main Street 5, Springfield."},
		{"A<br>B &amp; C &lt; D, <b>bold</b>, \\*star\\*, R&D.", "A, B and C less than D, bold, star, R and D."},
		{"snake_case and 5 * 3 and 5*3", "snake case and 5 times 3 and 5 times 3."},
		{"---\n\n***\n", ""},
		{"2026. A year.\n27. Another line.", "2026. A year. 27. Another line."},
	})
}
