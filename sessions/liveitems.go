package sessions

// Audio is what is known of an item that was spoken.
type Audio struct {
	// LengthMS is how long it is; 0: not known.
	LengthMS int `json:"length_ms,omitempty"`
	// Transcribed says that the item's text is what was spoken.
	Transcribed bool `json:"transcribed,omitempty"`
}
