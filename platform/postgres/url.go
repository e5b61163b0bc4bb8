package postgres

import (
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// CheckURL returns why a database URL cannot be read, as a *URLError.
func CheckURL(databaseURL string) error {
	if _, err := pgx.ParseConfig(databaseURL); err != nil {
		return NewURLError(databaseURL, err)
	}
	return nil
}

// URLError is a database URL that cannot be read. Its text repeats nothing of the URL but its
// options: where the password ends cannot be known in a URL that is wrong.
type URLError struct{ what string }

// NewURLError takes pgx's error about a database URL. pgx hides what it takes for the password,
// which is not all of one that has a /, #, @ or : in it.
func NewURLError(databaseURL string, err error) *URLError {
	u, unreadable := url.Parse(databaseURL)
	if unreadable != nil || u.Scheme != "" && u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return &URLError{"write it as postgres://user:password@host:5432/database, and percent-encode the password " +
			"(/ is %2F, @ is %40, # is %23)"}
	}
	text := err.Error()
	if end := strings.LastIndex(text, "`: "); end >= 0 { // before that the URL is repeated
		text = text[end+len("`: "):]
	}
	return &URLError{text}
}

// Error implements error.
func (e *URLError) Error() string { return "the database URL cannot be read: " + e.what }
