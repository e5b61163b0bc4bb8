// Package speakable turns what a language model writes into what a synthesizer reads aloud. It
// knows text only: no sound, no provider, no session, no clock.
//
//	deltas ─► markdown ─► plain text ─► boundary ─► speaker ─► Piece
//	          removed     with offsets  where to    put into
//	                      in the answer cut it      words
//
// [Cutter] does this for an answer that is still being written. For each answer:
//
//	cutter := speakable.NewCutter(speakable.Settings{Language: "de-DE"})
//	for delta := range answer {
//		queue(cutter.Write(delta)...)
//	}
//	queue(cutter.Flush()...)
//
// Each [Piece] is synthesized at once. The first is the first clause of at least 25 characters, so
// that speech begins early; the others are sentences. When the listener interrupts, the transcript
// is the answer up to Piece.HeardText (from the words that the synthesizer reports as spoken) or
// Piece.HeardShare (from the share of the piece's sound that was played). A piece of which
// everything was heard ends at Piece.End. An answer of which everything was heard is the whole
// answer, with what no piece speaks, such as code behind the last one. [Speak] is the same for a
// text that is complete: a first message, a filler.
//
// # What is put into words
//
// Numbers stay digits. Synthesizers read "42", "1,200", "3.5" and "22nd" well in their language,
// and know the grammar around them ("21 Tage", "une page"), which a table here would not. Put into
// words is what they read wrong or what nobody can follow:
//
//   - addresses: "ada at example dot com"; of a web address the host and up to two words of the
//     path
//   - digits that identify something, one by one and in groups: phone numbers, cards, IBANs,
//     "AB-12345", numbers of five digits and more that are not round, and numbers behind a word
//     like "code"
//   - dates, in the order of the language and region; "14:30" as people of the language say it
//   - money, percent, units, magnitudes, ranges, signs, ordinals of Romance languages and Dutch,
//     and abbreviations: small synthesizers (espeak-ng, and those that use its phonemes) spell
//     them
//
// Markup is removed: items of lists and headings become sentences, rows of tables are said with
// the names of their columns, a block of code is named in a sentence, links are said by their
// text, and citations, footnotes, tags and emoji are left out. Whatever is not recognized is left
// as it is.
//
// The words are those of English, German, French, Spanish, Italian, Portuguese and Dutch: one file
// a language, with tables only. For others, markup and emoji are removed and long numbers are
// spelled.
//
// # Where an answer is cut
//
// At the ends of sentences of Unicode (UAX #29), except after abbreviations, initials and German
// ordinals. A boundary is used once the next letter is known, because that decides. The same
// pieces come of an answer however it is divided into deltas; a fuzz test holds this.
//
// # Libraries
//
// Looked at and not used: jargo's utils/text (English only), neurosnap/sentences (Punkt models of
// 5 MB, no streams), goldmark (needs the whole text), nyaruka/phonenumbers (would regroup numbers
// which people know in the groups they are written in).
package speakable
