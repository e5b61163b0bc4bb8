package extractive

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/provider/model"
)

// The tools of callbacks and of handing over.
const (
	scheduleCallback = "schedule_callback"
	transferToPerson = "transfer_to_person"
)

var (
	wantsPerson = regexp.MustCompile(`\b(?:speak|talk|connect|transfer|put)\b.*` +
		`\b(?:person|human|somebody|someone|operator|representative|people)\b|^(?:a )?(?:human|real person|operator)(?: please)?$`)
	wantsCall  = regexp.MustCompile(`\b(?:call|ring|phone) me\b`)
	atNumber   = regexp.MustCompile(`\+[0-9][0-9 ()./-]{5,24}[0-9]`)
	inMinutes  = regexp.MustCompile(`\bin (\d{1,4}|an?|one|two|five|ten|fifteen|twenty|thirty) (minute|hour)s?\b`)
	atHour     = regexp.MustCompile(`\b(?:at|around) (\d{1,2}|[a-z]+)(?::(\d{2}))?(?: o'?clock)? ?(am|pm|a\.m\.|p\.m\.)?`)
	nowInWords = regexp.MustCompile(`It is now (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z)`)
)

// numbersInWords are those that times are said with.
var numbersInWords = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "noon": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}

func numberOf(word string) (int, bool) {
	if n, known := numbersInWords[word]; known {
		return n, true
	}
	n, err := strconv.Atoi(word)
	return n, err == nil
}

// telephoneCalls are the calls of tools for somebody who asks for a person, or to be called. ok is
// false when the words are about something else. Without a call there is a question.
func telephoneCalls(req model.Request, text string) (result model.Result, ok bool) {
	plain := strings.ToLower(strings.TrimRight(strings.TrimSpace(text), " .!?"))
	switch {
	case offers(req, transferToPerson) && wantsPerson.MatchString(plain):
		return model.Result{ToolCalls: []model.ToolCall{call(req, 0, transferToPerson, map[string]any{
			"reason": "The user asked for a person.", "summary": "The user said: " + bounded(text),
		})}}, true
	case !offers(req, scheduleCallback) || !wantsCall.MatchString(plain):
		return model.Result{}, false
	}
	number := atNumber.FindString(text)
	if number == "" {
		return model.Result{Text: "At which number? Please say it with its country's code, for example +1 201 555 0123, and when to call."}, true
	}
	arguments := map[string]any{"phone_number": digitsOf(number), "reason": bounded(text)}
	if !addTime(req, arguments, strings.ReplaceAll(plain, strings.ToLower(number), "")) {
		return model.Result{Text: "When should I call? For example: tomorrow at nine, or in 30 minutes."}, true
	}
	return model.Result{ToolCalls: []model.ToolCall{call(req, 0, scheduleCallback, arguments)}}, true
}

func digitsOf(number string) string {
	return "+" + strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}

// addTime adds when to call. The day is by the prompt's clock, the hour in the time zone of the
// tool.
func addTime(req model.Request, arguments map[string]any, plain string) bool {
	if said := inMinutes.FindStringSubmatch(plain); said != nil {
		n, _ := numberOf(said[1]) // the pattern has known ones only
		if said[2] == "hour" {
			n *= 60
		}
		arguments["in_minutes"] = n
		return n > 0
	}
	now := nowInWords.FindStringSubmatch(req.System)
	said := atHour.FindStringSubmatch(plain)
	if now == nil || said == nil {
		return false
	}
	hour, known := numberOf(said[1])
	minute, _ := strconv.Atoi(said[2]) // empty is 0
	if strings.HasPrefix(said[3], "p") && hour < 12 {
		hour += 12
	}
	day, err := time.Parse("2006-01-02T15:04Z", now[1])
	if !known || hour > 23 || minute > 59 || err != nil {
		return false
	}
	if strings.Contains(plain, "tomorrow") {
		day = day.AddDate(0, 0, 1)
	}
	arguments["at"] = fmt.Sprintf("%sT%02d:%02d", day.Format(time.DateOnly), hour, minute)
	return true
}

// telephoneWords puts the answer of a tool of calls into words.
func telephoneWords(tool, bare string) (words string, ok bool) {
	switch tool {
	case transferToPerson:
		if strings.Contains(bare, "was asked to take over") {
			return "I am connecting you with a person. One moment, please.", true
		}
	case scheduleCallback:
		var answer struct {
			Scheduled struct {
				LocalTime string `json:"local_time"`
				Timezone  string `json:"timezone"`
				Number    string `json:"phone_number"`
			} `json:"scheduled"`
		}
		if json.Unmarshal([]byte(bare), &answer) == nil && answer.Scheduled.LocalTime != "" {
			s := answer.Scheduled
			return fmt.Sprintf("I will call you at %s on %s (%s).", s.Number, s.LocalTime, s.Timezone), true
		}
	}
	return "", false
}
