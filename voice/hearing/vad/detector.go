package vad

import "parlance.dev/parlance/voice/hearing/silero"

const (
	// doubtDB is how far above the floor a frame is not surely background.
	doubtDB = 3

	// quietestDB is the level under which nothing is speech.
	quietestDB = -55

	// lead is how many frames before the gate opens the network sees too: it needs some of what came
	// before to judge a beginning.
	lead = 5

	// hold is for how many frames of background the network goes on, so that its answer falls as it
	// does at the end of a word.
	hold = 8

	// surely is the probability from which a frame is surely speech. After settled such frames the
	// network looks at every stride-th frame only, as long as the level does not fall by fallDB.
	// That spares it a quarter of its frames, and 300 voices a share of a core that they need; the
	// table of test/eval/hearing stays as it is.
	surely, settled, stride, fallDB = 0.9, 10, 3, 12
)

// Detector is a Gate whose doubts the network of package silero decides.
type Detector struct {
	gate    Gate
	network *silero.Network
	before  [lead][FrameSamples]int16 // a ring of the last frames that the network did not see
	missed  int                       // how many frames it has not seen
	quiet   int                       // frames of background on end
	steps   int
	last    float32
	sure    int     // frames on end that were surely speech
	loudDB  float64 // their level
}

// New returns a detector at the beginning of a stream.
func New() *Detector {
	return &Detector{network: silero.New()}
}

// Detect takes the next FrameSamples samples.
func (d *Detector) Detect(samples []int16) Frame {
	frame := d.gate.measure(samples)
	if frame.LevelDB < quietestDB || frame.LevelDB < frame.FloorDB+doubtDB {
		d.quiet++
	} else {
		d.quiet = 0
	}
	if d.quiet > hold || d.quiet > 0 && d.missed > 0 {
		copy(d.before[d.missed%lead][:], samples)
		d.missed++
		return frame
	}
	d.wake()
	if d.sure >= settled && d.sure%stride != 0 && frame.LevelDB > d.loudDB-fallDB {
		d.sure++
		d.network.Skip(samples)
		frame.Speech = d.last
		return frame
	}
	frame.Speech = d.step(samples)
	if d.last = frame.Speech; d.last < surely {
		d.sure = 0
		return frame
	}
	if d.sure++; d.sure == 1 {
		d.loudDB = frame.LevelDB
	}
	d.loudDB += (frame.LevelDB - d.loudDB) / settled
	return frame
}

// wake shows the network the last frames before this one, if it has not seen them.
func (d *Detector) wake() {
	if d.missed == 0 {
		return
	}
	if d.missed > lead {
		d.network.Reset()
	}
	for i := max(0, d.missed-lead); i < d.missed; i++ {
		d.step(d.before[i%lead][:])
	}
	d.missed = 0
}

func (d *Detector) step(samples []int16) float32 {
	d.steps++
	return d.network.Step(samples)
}

// Steps is how many frames the network has run on.
func (d *Detector) Steps() int {
	return d.steps
}
