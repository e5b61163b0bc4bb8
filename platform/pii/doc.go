// Package pii finds personal data in text by its form, and replaces it: payment cards, e-mail
// addresses, telephone numbers and IBANs.
//
// It decides by form and check digits alone. It does not find what has another form: names, postal
// addresses, numbers that are written in words ("four one one one"), spoken addresses ("anna at
// example dot com"), and telephone numbers in a national form when the country is not known;
// NewWide finds most of those, and with them other numbers.
// docs/retention.md has what it misses of a labelled set, and test/eval/pii measures it.
package pii
