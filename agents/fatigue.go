package agents

import (
	"fmt"
	"slices"
	"time"

	"parlance.dev/parlance/fault"
)

// What happens when a window is used up, beside fatigue.alert.
const (
	FatigueAlert = "alert"
	// FatigueSuggest also says the message, at the end of the turn.
	FatigueSuggest = "suggest"
	// FatigueRefuse also refuses new sessions of the user until the window has room again.
	FatigueRefuse = "refuse"
)

// Bounds of a window.
const (
	minFatigueWindow = time.Minute
	maxFatigueWindow = 31 * 24 * time.Hour
)

// FatigueWindow limits what one user may do with the agent in a time that slides. 0 means no limit.
type FatigueWindow struct {
	// Window is its length as a Go duration, such as 24h.
	Window      string `json:"window"`
	MaxTurns    int    `json:"max_turns"`
	MaxSessions int    `json:"max_sessions"`
	MaxMinutes  int    `json:"max_minutes"`
	// Action is alert (also when it is empty), suggest or refuse.
	Action string `json:"action,omitempty"`
	// Message is what suggest says.
	Message string `json:"message,omitempty"`
}

// Length is how long the window is; 0 when Window is none.
func (w FatigueWindow) Length() time.Duration {
	length, err := time.ParseDuration(w.Window)
	if err != nil {
		return 0
	}
	return length
}

// checkFatigue refuses windows that limit nothing or cannot be used. Errors: Invalid
// invalid-request.
func checkFatigue(windows []FatigueWindow) error {
	var fields []fault.Field
	for i, w := range windows {
		add := func(field, code, message string) {
			fields = append(fields, fault.Field{Field: fmt.Sprintf("fatigue[%d].%s", i, field), Code: code, Message: message})
		}
		if length := w.Length(); length < minFatigueWindow || length > maxFatigueWindow || length%time.Second != 0 {
			add("window", "range", `window is a duration of whole seconds from "1m" to "744h", such as "30m" or "24h".`)
		} else if slices.ContainsFunc(windows[:i], func(other FatigueWindow) bool { return other.Length() == length }) {
			add("window", "repeated", "Another window has this length; give it all the limits.")
		}
		if w.MaxTurns+w.MaxSessions+w.MaxMinutes == 0 {
			add("max_turns", "required", "The window limits nothing: set max_turns, max_sessions or max_minutes.")
		}
		if w.Action == FatigueSuggest && w.Message == "" {
			add("message", "required", "Say what the agent suggests.")
		}
		if w.Action != FatigueSuggest && w.Message != "" {
			add("message", "unused", "Only the action suggest says a message.")
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.InvalidFields(fields...)
}
