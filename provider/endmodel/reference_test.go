package endmodel

// reference is 5 s of noise in steps of loudness, with a square wave of 400 Hz in two of them.
func reference() []int16 {
	audio := make([]int16, 5*sampleRate)
	seed := 1
	for i := range audio {
		seed = (seed*1103515245 + 12345) % (1 << 31)
		noise, square := (seed>>16)%2001-1000, 2000
		if i/20%2 == 1 {
			square = -square
		}
		audio[i] = int16(noise*(i/800%10) + square*(i/16000%2))
	}
	return audio
}

// referenceFeatures were computed by compute_whisper_log_mel_features of Pipecat (August 2026) with
// numpy 1.24.2, of the samples of reference divided by 32768, with 3 s of zeros before them.
var referenceFeatures = []struct {
	band, frame int
	value       float64
}{
	{0, 0, 0.710345},
	{0, 400, 1.099543},
	{3, 310, 0.845529},
	{10, 420, 1.581644},
	{20, 500, 1.002478},
	{30, 301, -0.364095},
	{40, 650, 1.183760},
	{50, 777, 1.295816},
	{60, 799, 1.260490},
	{79, 555, 0.663945},
	{26, 460, 0.946857},
	{79, 799, 1.288429},
	{5, 299, -0.364095},
	{70, 330, 1.100299},
}
