package turns

const (
	// MaxWaitingResponds bounds the answers that wait for the one going out.
	MaxWaitingResponds = 16
	maxClientTools     = 128
)

const MaxItemIDBytes = 128
