package command

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// maxDays bounds a duration in days, which must fit into a time.Duration.
const maxDays = 36_500

// Since is a flag for a moment: a duration before now, also in days (7d), or a time. It is zero
// when not given.
type Since struct {
	given string
	ago   time.Duration
	at    time.Time
}

// Set implements pflag.Value.
func (s *Since) Set(given string) error {
	s.given = given
	if ago, err := time.ParseDuration(given); err == nil && ago > 0 {
		s.ago = ago
		return nil
	}
	if days, isDays := strings.CutSuffix(given, "d"); isDays {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= maxDays {
			s.ago = time.Duration(n) * 24 * time.Hour
			return nil
		}
	}
	at, err := time.Parse(time.RFC3339, given)
	if err != nil {
		return errors.New("say how long ago, such as 24h or 7d, or a time such as 2026-03-01T08:00:00Z")
	}
	s.at = at
	return nil
}

// String implements pflag.Value.
func (s *Since) String() string { return s.given }

// Type implements pflag.Value; --help shows it.
func (s *Since) Type() string { return "time" }

// From returns the moment; ok is false when the flag was not given.
func (s *Since) From(now time.Time) (from time.Time, ok bool) {
	if s.ago > 0 {
		return now.Add(-s.ago), true
	}
	return s.at, s.given != ""
}
