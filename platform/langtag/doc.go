// Package langtag reads language tags (BCP 47: "en", "de-AT", "zh-Hant-TW") as far as tables of
// words by language need it. For what a tag means beyond its first part there is
// golang.org/x/text/language.
package langtag
