// Package langtag reads language tags (BCP 47: "en", "de-AT", "zh-Hant-TW") as far as settings and
// tables of words by language need it.
package langtag
