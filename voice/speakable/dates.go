package speakable

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var (
	isoDatePattern = regexp.MustCompile(
		`^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?`)
	dottedDatePattern = regexp.MustCompile(`^(\d{1,2})\.(?: ?)(\d{1,2})\.(?: ?)(\d{4})`)
	shortDatePattern  = regexp.MustCompile(`^(?:(\d\d)\.(\d\d)\.(\d\d)|(\d{1,2})/(\d{1,2})/(\d\d))`)
	dayMonthPattern   = regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.`)
	slashDatePattern  = regexp.MustCompile(`^(\d{1,2})[/-](\d{1,2})[/-](\d{4})`)
	clockPattern      = regexp.MustCompile(`^([01]?\d|2[0-4])([:.h]|[ \x{a0}]h[ \x{a0}]?)([0-5]\d)`)
	hourPattern       = regexp.MustCompile(`^([01]?\d|2[0-4])[ \x{a0}]?(h)`)
	amPMPattern       = regexp.MustCompile(`^(\d{1,2})(?::([0-5]\d))?[ \x{a0}]?([aApP])(?:\.[mM]\.|[mM]\b)`)
)

// wholeWord reports whether no letter or digit follows at i.
func (s *speaker) wholeWord(i int) bool {
	r, _ := utf8.DecodeRuneInString(s.in[i:])
	return !isWordRune(r)
}

// isoDate reads "2026-11-27", with "T14:30" or without.
func isoDate(s *speaker, i int) (int, string) {
	m := isoDatePattern.FindStringSubmatch(s.in[i:])
	if m == nil || !s.wholeWord(i+len(m[0])) {
		return 0, ""
	}
	say := s.sayDate(m[3], m[2], m[1])
	if say == "" {
		return 0, ""
	}
	if m[4] != "" {
		say += ", " + s.sayTime(m[4], m[5], true)
	}
	if m[6] == "Z" {
		say += " UTC"
	}
	return len(m[0]), say
}

// writtenDate reads "27.11.2026", "27.11.26", "27/11/2026" and "27-11-2026", and in German "am
// 27.11.".
func writtenDate(s *speaker, i int) (int, string) {
	rest := s.in[i:]
	if m := dottedDatePattern.FindStringSubmatch(rest); m != nil && s.wholeWord(i+len(m[0])) {
		return whole(m[0], s.sayDate(m[1], m[2], m[3]))
	}
	if m := slashDatePattern.FindStringSubmatch(rest); m != nil && s.wholeWord(i+len(m[0])) {
		return whole(m[0], s.sayOrdered(m[1], m[2], m[3]))
	}
	if m := shortDatePattern.FindStringSubmatch(rest); m != nil && s.wholeWord(i+len(m[0])) {
		if m[1] != "" {
			return whole(m[0], s.sayDate(m[1], m[2], century(m[3])))
		}
		return whole(m[0], s.sayOrdered(m[4], m[5], century(m[6])))
	}
	m := dayMonthPattern.FindStringSubmatch(rest)
	if m == nil || !s.ordinalDot || !s.wholeWord(i+len(m[0])) {
		return 0, ""
	}
	before := s.wordsBefore(i, 1)
	if len(before) == 0 || !slices.Contains([]string{"am", "vom", "bis", "zum", "ab", "seit", "den", "der", "dem", "und"}, before[0]) {
		return 0, ""
	}
	say := strings.TrimSpace(s.sayDate(m[1], m[2], ""))
	if s.ends(i + len(m[0])) {
		say += "."
	}
	return whole(m[0], say)
}

// whole is the answer of a rule that replaces what it has matched if there is something to say.
func whole(matched, say string) (int, string) {
	if say == "" || say == "." {
		return 0, ""
	}
	return len(matched), say
}

func century(year string) string {
	if year < "70" {
		return "20" + year
	}
	return "19" + year
}

// sayOrdered says a date whose order of day and month depends on the region. If only the other
// order is a date, it is that.
func (s *speaker) sayOrdered(first, second, year string) string {
	if s.monthFirst {
		first, second = second, first
	}
	if say := s.sayDate(first, second, year); say != "" {
		return say
	}
	return s.sayDate(second, first, year)
}

// sayDate says a date, or nothing if there is none such.
func (s *speaker) sayDate(day, month, year string) string {
	d, _ := strconv.Atoi(day)
	m, _ := strconv.Atoi(month)
	y, _ := strconv.Atoi(year)
	if year == "" {
		y = 2000 // a leap year
	}
	if s.date == "" || m < 1 || m > 12 || d < 1 || time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Day() != d {
		return ""
	}
	dayName := strconv.Itoa(d)
	if d == 1 && s.firstDay != "" {
		dayName = s.firstDay
	}
	return strings.NewReplacer("{day}", dayName, "{month}", s.months[m-1], "{year}", year).Replace(s.date)
}

// amPM reads "2:30 pm" and "5 p.m.".
func amPM(s *speaker, i int) (int, string) {
	m := amPMPattern.FindStringSubmatch(s.in[i:])
	if m == nil || !s.clock.twelve {
		return 0, ""
	}
	say := m[1]
	if m[2] != "" && m[2] != "00" {
		say += ":" + m[2]
	}
	say += " " + strings.ToUpper(m[3]) + "M"
	if strings.HasSuffix(m[0], ".") && s.ends(i+len(m[0])) {
		say += "."
	}
	return len(m[0]), say
}

// clockTime reads "14:30", "14.30 Uhr", "14h30" and "14 h".
func clockTime(s *speaker, i int) (int, string) {
	if s.clock.minutes == "" && !s.clock.twelve {
		return 0, ""
	}
	rest := s.in[i:]
	m := clockPattern.FindStringSubmatch(rest)
	if m == nil {
		h := hourPattern.FindStringSubmatch(rest)
		if h == nil || !slices.Contains(s.clock.after, h[2]) || !s.wholeWord(i+len(h[0])) {
			return 0, ""
		}
		return whole(h[0], s.sayTime(h[1], "00", false))
	}
	n := len(m[0])
	after := s.clockWord(rest[n:])
	r, _ := utf8.DecodeRuneInString(rest[n:])
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest[n:], ":"))
	switch {
	case m[2] == "." && after == 0, strings.Contains(m[2], "h") && !slices.Contains(s.clock.after, "h"):
		return 0, ""
	case isWordRune(r), r == ':' && unicode.IsDigit(next): // 14:30:15 is left to the synthesizer
		return 0, ""
	}
	return n + after, s.sayTime(m[1], m[3], after > 0)
}

// clockWord is the length of the word after a time that is said within it, such as "Uhr".
func (s *speaker) clockWord(rest string) int {
	word := strings.TrimLeft(rest, " \u00a0")
	for _, after := range s.clock.after {
		if len(word) == len(rest) && len(after) > 1 {
			continue
		}
		if strings.HasPrefix(word, after) {
			end := len(rest) - len(word) + len(after)
			if r, _ := utf8.DecodeRuneInString(rest[end:]); !isWordRune(r) {
				return end
			}
		}
	}
	return 0
}

// sayTime says a time of day. certain is whether it is one of a clock of 24 hours; 9:30 may not be.
func (s *speaker) sayTime(hour, minute string, certain bool) string {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	if s.clock.twelve {
		return sayTwelve(h, minute, certain || h > 12 || h == 0 || hour[0] == '0')
	}
	pattern := s.clock.minutes
	switch {
	case pattern == "": // a language whose words are not known
		return hour + ":" + minute
	case m == 0 && h < 2 && s.clock.one != "":
		pattern = s.clock.one
	case m == 0:
		pattern = s.clock.hour
	case h < 2 && s.clock.one != "" && strings.Contains(pattern, strings.TrimPrefix(s.clock.hour, "{h}")):
		pattern = s.clock.one + " {m}"
	}
	return strings.NewReplacer("{h}", strconv.Itoa(h), "{m}", strconv.Itoa(m)).Replace(pattern)
}

// sayTwelve says a time as on a clock of twelve hours, with AM or PM if that is known.
func sayTwelve(h int, minute string, known bool) string {
	half := " AM"
	if h%24 >= 12 {
		half = " PM"
	}
	say := strconv.Itoa((h+11)%12 + 1)
	switch {
	case !known:
		return strconv.Itoa(h) + ":" + minute
	case minute == "00":
		return say + half
	}
	return say + ":" + minute + half
}

// monthName reads "Nov. 27" and "Nov 27".
func monthName(s *speaker, i int) (int, string) {
	n := wordLength(s.in[i:])
	word := s.in[i : i+n]
	month := s.shortMonths[strings.ToLower(word)]
	if month == 0 {
		return 0, ""
	}
	rest := s.in[i+n:]
	dotted := strings.HasPrefix(rest, ".")
	rest = strings.TrimPrefix(rest, ".")
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \u00a0"))
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s.in[:i], " \u00a0."))
	upper, _ := utf8.DecodeRuneInString(word)
	if !unicode.IsDigit(next) && !(unicode.IsDigit(before) && (dotted || unicode.IsUpper(upper))) {
		return 0, ""
	}
	if dotted {
		n++
	}
	say := s.months[month-1]
	if dotted && !unicode.IsDigit(next) && s.ends(i+n) {
		say += "."
	}
	return n, say
}

// weekday reads "Mon-Fri", "Mo.–Fr." and "Sat 10". Elsewhere such words may be others, like "so"
// and "sun".
func weekday(s *speaker, i int) (int, string) {
	word, dotted := s.dotted(i)
	say := s.weekdays[s.in[i:i+word]]
	if say == "" {
		return 0, ""
	}
	n := word
	if dotted {
		n++
	}
	before, _ := utf8.DecodeLastRuneInString(s.in[:i])
	dash, size := utf8.DecodeRuneInString(s.in[i+n:])
	isDash := func(r rune) bool { return r == '-' || r == '–' }
	switch {
	case isDash(dash) && i+n+size < len(s.in):
		next, _ := s.dotted(i + n + size)
		if s.weekdays[s.in[i+n+size:i+n+size+next]] != "" {
			return n + size, say + s.to
		}
	case isDash(before), unicode.IsDigit(s.afterSpace(i+n)) && (dotted || s.clock.twelve), dotted && dash == ',':
		return n, say
	}
	return 0, ""
}

// dotted is the length of the word at i, and whether there is a full stop behind it.
func (s *speaker) dotted(i int) (int, bool) {
	n := strings.IndexFunc(s.in[i:], func(r rune) bool { return !isWordRune(r) })
	if n < 0 {
		return len(s.in) - i, false
	}
	return n, s.in[i+n] == '.'
}
