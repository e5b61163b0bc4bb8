// Package nogo finds what an agent must neither be asked nor say: the no-go zones of its operator.
//
// A zone has phrases, RE2 patterns and examples. [Zones.Find] looks at a whole text, which is what
// the user says. A [Filter] looks at a text that comes piece by piece, which is what the model
// says, and holds back what may still become a match:
//
//	phrase            from where it may have begun
//	bounded pattern   as many characters as the pattern can match
//	other pattern     until the sentence ends
//	example           until the sentence ends
//
// So no part of a match is ever let through, however the pieces are cut. A pattern without a bound
// and an example are not looked for over the end of a sentence.
//
// # What a phrase finds
//
// A phrase is found as whole words: "bomb" is not in "bombastic". Case, accents, characters that
// are not shown, and what stands between the letters make no difference ("B.O.M.B", "b o m b",
// "bo-mb"), nor do look-alike letters of other scripts (Unicode's confusables) and digits for
// letters ("b0mb"). Chinese, Japanese, Thai and the like have no spaces, so there a phrase is found
// anywhere.
//
// A pattern sees the text in lower case, without characters that are not shown, with compatible
// forms of letters (full-width, ligatures) made plain; it ignores case itself.
//
// The package has no state, no database and no clock.
package nogo
