package term

import (
	"encoding/json"
	"fmt"
	"time"
)

// Bytes is a size with a unit.
func Bytes(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	unit := 0
	for bytes >= 999.5 && unit < len(units)-1 {
		bytes /= 1000
		unit++
	}
	if unit == 0 || bytes >= 99.5 {
		return fmt.Sprintf("%.0f %s", bytes, units[unit])
	}
	return fmt.Sprintf("%.1f %s", bytes, units[unit])
}

// Age is how long ago something was, in one unit.
func Age(age time.Duration) string {
	switch {
	case age < time.Minute:
		return fmt.Sprintf("%d s", max(int(age.Seconds()), 0))
	case age < time.Hour:
		return fmt.Sprintf("%d min", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", int(age.Hours()))
	}
	return fmt.Sprintf("%d d", int(age.Hours()/24))
}

// Took is how long something took.
func Took(took time.Duration) string {
	if took < time.Minute {
		return fmt.Sprintf("%.1f s", took.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(took.Minutes()), int(took.Seconds())%60)
}

// Latency is Took for calls, in milliseconds when it is less than a second.
func Latency[N int32 | int64](milliseconds N) string {
	if milliseconds < 1000 {
		return fmt.Sprintf("%d ms", milliseconds)
	}
	return Took(time.Duration(milliseconds) * time.Millisecond)
}

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// JSON is a value on one line.
func JSON(value any) string { return encoded(json.Marshal(value)) }

// IndentedJSON is a value on several lines.
func IndentedJSON(value any) string { return encoded(json.MarshalIndent(value, "", "  ")) }

func encoded(text []byte, err error) string {
	if err != nil {
		return "" // values of the API can all be encoded
	}
	return string(text)
}
