package tenantwall

import (
	"errors"
	"strings"
)

// kind is what a token is.
type kind uint8

const (
	word   kind = iota // a keyword or a plain name, in lower case
	quoted             // a "quoted" name, as it is
	text               // a 'string', of any of Postgres's forms
	number             // 1, 1.5, 1e3
	param              // $1
	symbol             // an operator or a punctuation mark
	group              // what stands in parentheses: see token.inner
)

// token is a piece of a statement; parentheses are one token with what is in them.
type token struct {
	kind kind
	text string // without quotes; of a string, with '' read as one
	at   int    // where it begins in the statement
	// inner is a group's content.
	inner []token
}

func (t token) is(words ...string) bool {
	if t.kind != word && t.kind != symbol {
		return false
	}
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}

// isName reports whether the token may be an identifier.
func (t token) isName() bool { return t.kind == word || t.kind == quoted }

// isValue reports whether the token is a value by itself.
func (t token) isValue() bool { return t.kind == text || t.kind == number || t.kind == param }

var (
	errUnclosed   = errors.New("a quote, comment or parenthesis is not closed")
	errUnopened   = errors.New("a parenthesis was never opened")
	errStatements = errors.New("more than one statement")
)

// leadingComment is the first thing of a statement when that is a /* comment */.
func leadingComment(sql string) string {
	rest, found := strings.CutPrefix(strings.TrimSpace(sql), "/*")
	if !found {
		return ""
	}
	comment, _, _ := strings.Cut(rest, "*/")
	return strings.TrimSpace(comment)
}

// scan cuts a statement into tokens.
func scan(sql string) ([]token, error) {
	s := scanner{sql: sql}
	tokens, err := s.until(false)
	if err != nil {
		return nil, err
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].is(";") {
		tokens = tokens[:len(tokens)-1]
	}
	for _, t := range tokens {
		if t.is(";") {
			return nil, errStatements
		}
	}
	return tokens, nil
}

type scanner struct {
	sql string
	at  int
}

// until reads to the end, or to the parenthesis that closes a group.
func (s *scanner) until(inGroup bool) ([]token, error) {
	var tokens []token
	for {
		if err := s.skip(); err != nil {
			return nil, err
		}
		if s.at >= len(s.sql) {
			if inGroup {
				return nil, errUnclosed
			}
			return tokens, nil
		}
		switch s.sql[s.at] {
		case '(':
			from := s.at
			s.at++
			inner, err := s.until(true)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, token{kind: group, inner: inner, at: from})
		case ')':
			s.at++
			if !inGroup {
				return nil, errUnopened
			}
			return tokens, nil
		default:
			from := s.at
			t, err := s.next()
			if err != nil {
				return nil, err
			}
			t.at = from
			tokens = append(tokens, t)
		}
	}
}

// skip passes over blanks and comments; block comments nest.
func (s *scanner) skip() error {
	for s.at < len(s.sql) {
		rest := s.sql[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "--"):
			line, _, _ := strings.Cut(rest, "\n")
			s.at += len(line)
		case strings.HasPrefix(rest, "/*"):
			depth := 0
			for {
				switch {
				case strings.HasPrefix(s.sql[s.at:], "/*"):
					depth++
					s.at += 2
				case strings.HasPrefix(s.sql[s.at:], "*/"):
					depth--
					s.at += 2
				case s.at >= len(s.sql):
					return errUnclosed
				default:
					s.at++
				}
				if depth == 0 {
					break
				}
			}
		default:
			return nil
		}
	}
	return nil
}

// next reads one token that is no parenthesis.
func (s *scanner) next() (token, error) {
	rest := s.sql[s.at:]
	c := rest[0]
	switch {
	case c == '\'':
		return s.quotedBy('\'', text, false)
	case c == '"':
		return s.quotedBy('"', quoted, false)
	case len(rest) > 1 && rest[1] == '\'' && strings.IndexByte("eEbBxXnN", c) >= 0:
		s.at++
		return s.quotedBy('\'', text, c == 'e' || c == 'E')
	case c == '$' && (len(rest) == 1 || !isDigit(rest[1])):
		return s.dollarQuoted()
	case c == '$':
		return s.run(param, func(c byte) bool { return isDigit(c) || c == '$' }), nil
	case isDigit(c):
		return s.run(number, func(c byte) bool { return isDigit(c) || isLetter(c) || c == '.' }), nil
	case isLetter(c):
		t := s.run(word, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '$' })
		t.text = strings.ToLower(t.text)
		return t, nil
	case strings.HasPrefix(rest, "::"):
		s.at += 2
		return token{kind: symbol, text: "::"}, nil
	case strings.IndexByte(",.;[]:", c) >= 0:
		s.at++
		return token{kind: symbol, text: string(c)}, nil
	case strings.IndexByte(operatorBytes, c) < 0:
		return token{}, errors.New("an unknown character: " + string(c))
	}
	return s.run(symbol, func(c byte) bool { return strings.IndexByte(operatorBytes, c) >= 0 }), nil
}

const operatorBytes = "+-*/<>=~!@#%^&|`?"

// run reads bytes as long as they belong to the token.
func (s *scanner) run(k kind, belongs func(byte) bool) token {
	from := s.at
	for s.at < len(s.sql) && belongs(s.sql[s.at]) {
		s.at++
	}
	return token{kind: k, text: s.sql[from:s.at]}
}

// quotedBy reads to the closing quote; two of them are one, and with escapes a backslash hides the
// next byte.
func (s *scanner) quotedBy(quote byte, k kind, escapes bool) (token, error) {
	var b strings.Builder
	for s.at++; s.at < len(s.sql); s.at++ {
		c := s.sql[s.at]
		switch {
		case escapes && c == '\\' && s.at+1 < len(s.sql):
			s.at++
			b.WriteByte(s.sql[s.at])
		case c != quote:
			b.WriteByte(c)
		case s.at+1 < len(s.sql) && s.sql[s.at+1] == quote:
			s.at++
			b.WriteByte(c)
		default:
			s.at++
			return token{kind: k, text: b.String()}, nil
		}
	}
	return token{}, errUnclosed
}

// dollarQuoted reads $tag$ … $tag$.
func (s *scanner) dollarQuoted() (token, error) {
	tag, _, found := strings.Cut(s.sql[s.at+1:], "$")
	if !found {
		return token{}, errUnclosed
	}
	tag = "$" + tag + "$"
	from := s.at + len(tag)
	length := strings.Index(s.sql[from:], tag)
	if length < 0 {
		return token{}, errUnclosed
	}
	s.at = from + length + len(tag)
	return token{kind: text, text: s.sql[from : from+length]}, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
