package endmodel

import "math"

// What Whisper's feature extractor does, which the network was trained on. Source:
// transformers.WhisperFeatureExtractor(chunk_length=8) with do_normalize=True.
const (
	sampleRate = 16_000
	// maxSamples is how much audio the network judges: 8 s.
	maxSamples = 8 * sampleRate

	windowSamples = 400
	hopSamples    = 160
	// bins are the frequencies of a window's spectrum, from 0 to half the sample rate.
	bins = windowSamples/2 + 1

	melBands = 80
	// frames are the windows of 8 s.
	frames = maxSamples / hopSamples
	// featureCount is the size of a spectrogram.
	featureCount = melBands * frames
)

// spectrogram computes the network's input. It keeps its tables and buffers; not safe for
// concurrent use.
type spectrogram struct {
	fourier *fourier
	window  [windowSamples]float64
	bands   [melBands]band
	padded  []float64
	pair    [windowSamples]complex128
	spectra [windowSamples]complex128
	powers  [2][bins]float64
}

func newSpectrogram() *spectrogram {
	s := &spectrogram{fourier: newFourier(), bands: newBands(), padded: make([]float64, maxSamples+windowSamples)}
	for i := range s.window { // Hann's
		s.window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/windowSamples)
	}
	return s
}

// compute writes the features of the last 8 s of audio to into, which has featureCount elements:
// the frames of the lowest band first. Less audio is preceded by silence.
func (s *spectrogram) compute(into []float32, audio []int16) {
	s.pad(audio)
	for frame := 0; frame < frames; frame += 2 {
		s.transform(s.padded[frame*hopSamples:])
		for i, power := range &s.powers {
			for b := range s.bands {
				into[b*frames+frame+i] = float32(math.Log10(max(s.bands[b].sum(power[:]), 1e-10)))
			}
		}
	}
	const range10 = 8 // powers of ten below the loudest
	loudest := float32(math.Inf(-1))
	for _, x := range into {
		loudest = max(loudest, x)
	}
	for i, x := range into {
		into[i] = (max(x, loudest-range10) + 4) / 4
	}
}

// pad makes the mean of 8 s of audio 0 and its variance 1, and mirrors half a window of it at both
// ends, so that the first window is centred on the first sample.
func (s *spectrogram) pad(audio []int16) {
	const half, tiny = windowSamples / 2, 1e-7
	audio = audio[max(0, len(audio)-maxSamples):]
	wave := s.padded[half : half+maxSamples]
	silent := maxSamples - len(audio)
	clear(wave[:silent])
	sum := 0.0
	for i, sample := range audio {
		wave[silent+i] = float64(sample) / 32768
		sum += wave[silent+i]
	}
	mean, squares := sum/maxSamples, 0.0
	for _, x := range wave {
		squares += (x - mean) * (x - mean)
	}
	scale := 1 / math.Sqrt(squares/maxSamples+tiny)
	for i, x := range wave {
		wave[i] = (x - mean) * scale
	}
	for i := 1; i <= half; i++ {
		s.padded[half-i] = wave[i]
		s.padded[half+maxSamples-1+i] = wave[maxSamples-1-i]
	}
}

// transform computes the powers of two windows that follow each other. One transform does for
// both: the first window is the real part of its input, and the second one the imaginary part.
func (s *spectrogram) transform(wave []float64) {
	for i, weight := range &s.window {
		s.pair[i] = complex(weight*wave[i], weight*wave[hopSamples+i])
	}
	s.fourier.transform(s.spectra[:], s.pair[:], 1)
	for k := range bins {
		a, b := s.spectra[k], s.spectra[(windowSamples-k)%windowSamples]
		s.powers[0][k] = (square(real(a)+real(b)) + square(imag(a)-imag(b))) / 4
		s.powers[1][k] = (square(imag(a)+imag(b)) + square(real(a)-real(b))) / 4
	}
}

func square(x float64) float64 { return x * x }

// band is a range of frequencies: the weights of the bins from first on.
type band struct {
	first   int
	weights []float64
}

// sum is the weighted power of the band.
func (b *band) sum(power []float64) (sum float64) {
	for i, weight := range b.weights {
		sum += weight * power[b.first+i]
	}
	return sum
}

// newBands makes triangles that overlap by half, at equal distances on the mel scale, each with an
// area of 1 Hz. Source: M. Slaney, Auditory Toolbox, 1998; librosa has the same by default.
func newBands() (bands [melBands]band) {
	top := mel(sampleRate / 2)
	edge := func(i int) float64 { return hertz(top * float64(i) / (melBands + 1)) }
	for b := range bands {
		low, centre, high := edge(b), edge(b+1), edge(b+2)
		for k := range bins {
			frequency := float64(k) * sampleRate / windowSamples
			weight := min((frequency-low)/(centre-low), (high-frequency)/(high-centre))
			if weight <= 0 {
				continue
			}
			if len(bands[b].weights) == 0 {
				bands[b].first = k
			}
			bands[b].weights = append(bands[b].weights, weight*2/(high-low))
		}
	}
	return bands
}

// Slaney's mel scale is linear to 1 kHz, and logarithmic above.
const (
	linearToHz  = 1000.0
	linearToMel = 15.0
)

var melsPerLog = 27 / math.Log(6.4)

func mel(hz float64) float64 {
	if hz < linearToHz {
		return hz * linearToMel / linearToHz
	}
	return linearToMel + math.Log(hz/linearToHz)*melsPerLog
}

func hertz(mel float64) float64 {
	if mel < linearToMel {
		return mel * linearToHz / linearToMel
	}
	return linearToHz * math.Exp((mel-linearToMel)/melsPerLog)
}
