package workspaces

import "parlance.dev/parlance/fault"

// Retention says for how many days something is kept. 0 says nothing: an agent goes by its
// workspace, and a workspace keeps for ever.
type Retention struct {
	// TranscriptDays are those that a session is kept after its end, with everything of it.
	TranscriptDays int `json:"transcript_days,omitempty"`
	// AudioDays are those that recordings are kept.
	AudioDays int `json:"audio_days,omitempty"`
}

// Check refuses what nothing applies. Errors: Unimplemented not-implemented.
func (r Retention) Check() error {
	if r.AudioDays == 0 {
		return nil
	}
	return fault.New(fault.NotImplemented, "audio_days is for recordings, and this version makes none: leave it out. transcript_days "+
		"deletes sessions with everything of them.")
}
