package workspaces

// Retention says for how many days something is kept. 0 says nothing: an agent goes by its
// workspace, and a workspace keeps for ever.
type Retention struct {
	// TranscriptDays are those that a session is kept after its end, with everything of it.
	TranscriptDays int `json:"transcript_days,omitempty"`
	// AudioDays are those that the recording of a session is kept after its end.
	AudioDays int `json:"audio_days,omitempty"`
}
