package silero

import (
	_ "embed" // weights.bin
	"encoding/binary"
	"math"
	"sync"

	"parlance.dev/parlance/platform/vector"
)

const (
	// FrameSamples is the number of samples of a step: 32 ms at 16 kHz.
	FrameSamples = 512

	context = 64 // samples before the frame that the network sees too
	padding = 64 // samples after it, mirrored
	steps   = 4  // Fourier transforms of a frame
	hidden  = 128
	taps    = 3
)

//go:embed weights.bin
var packed string

// convolution is a layer of the encoder: kernels of three taps, then rectification.
type convolution struct {
	inputs, stride int
	kernels        [][]float32 // one for each output: the inputs of tap 1, of tap 2, of tap 3
	biases         []float32
}

type weights struct {
	encoder          [4]convolution
	fromInput, state [][]float32 // of the LSTM's gates: 128 input, 128 forget, 128 cell, 128 output
	gateBiases       []float32
	output           []float32
	outputBias       float32
}

// loaded are the weights, read once in about a millisecond and shared by all streams.
var loaded = sync.OnceValue(func() *weights {
	rest := packed
	take := func(count int) []float32 {
		numbers := make([]float32, count)
		for i := range numbers {
			numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[4*i : 4*i+4])))
		}
		rest = rest[4*count:]
		return numbers
	}
	rows := func(count, length int) [][]float32 {
		all := make([][]float32, count)
		for i := range all {
			all[i] = take(length)
		}
		return all
	}
	layer := func(outputs, inputs, stride int) convolution {
		return convolution{inputs, stride, rows(outputs, taps*inputs), take(outputs)}
	}
	w := &weights{
		encoder:   [4]convolution{layer(128, bins, 1), layer(64, 128, 2), layer(64, 64, 2), layer(hidden, 64, 1)},
		fromInput: rows(4*hidden, hidden), state: rows(4*hidden, hidden), gateBiases: take(4 * hidden),
	}
	for i, bias := range take(4 * hidden) {
		w.gateBiases[i] += bias
	}
	w.output, w.outputBias = take(hidden), take(1)[0]
	return w
})

// Network is the state of one stream of audio. Not safe for concurrent use.
type Network struct {
	weights *weights
	samples [context + FrameSamples + padding]float32
	hidden  [hidden]float32
	cell    [hidden]float32
	// layers hold the input of each layer of the encoder between a zero row before and after it.
	layers [4][]float32
	code   [hidden]float32
}

// New returns a network at the beginning of a stream.
func New() *Network {
	n := &Network{weights: loaded()}
	for i, rows := range [4]int{steps, steps, steps / 2, 1} {
		n.layers[i] = make([]float32, (rows+2)*n.weights.encoder[i].inputs)
	}
	return n
}

// Reset forgets the stream.
func (n *Network) Reset() {
	clear(n.samples[:])
	clear(n.hidden[:])
	clear(n.cell[:])
}

// Step takes the next FrameSamples samples of 16 kHz audio and returns the probability, 0 to 1,
// that they are speech.
func (n *Network) Step(frame []int16) float32 {
	copy(n.samples[:context], n.samples[FrameSamples:FrameSamples+context])
	for i, sample := range frame[:FrameSamples] {
		n.samples[context+i] = float32(sample) / 32768
	}
	for i := range padding {
		n.samples[context+FrameSamples+i] = n.samples[context+FrameSamples-2-i]
	}
	for step := 0; step < steps; step += 2 {
		row, out := n.samples[step*hop:], n.layers[0][(step+1)*bins:]
		magnitudes(row[:window], row[hop:hop+window], out[:bins], out[bins:2*bins])
	}
	encoder := &n.weights.encoder
	for i := range encoder {
		out := n.code[:]
		if i+1 < len(encoder) {
			row := encoder[i+1].inputs
			out = n.layers[i+1][row : len(n.layers[i+1])-row]
		}
		encoder[i].apply(n.layers[i], out)
	}
	n.remember()
	sum := n.weights.outputBias
	for i, weight := range n.weights.output {
		sum += weight * max(n.hidden[i], 0)
	}
	return sigmoid(sum)
}

// Skip passes a frame over: the next step sees the end of it as what came before.
func (n *Network) Skip(frame []int16) {
	for i, sample := range frame[FrameSamples-context : FrameSamples] {
		n.samples[FrameSamples+i] = float32(sample) / 32768
	}
}

// apply writes as many rows of outputs as fit. Because of the zero rows around the input, what a
// row of outputs depends on is one piece of the input.
func (c *convolution) apply(in, out []float32) {
	span, rows := taps*c.inputs, len(out)/len(c.kernels)
	for o, kernel := range c.kernels {
		for row := range rows {
			sum := c.biases[o] + vector.Dot(kernel, in[row*c.stride*c.inputs:][:span])
			out[row*len(c.kernels)+o] = max(sum, 0)
		}
	}
}

// remember is the step of the LSTM.
func (n *Network) remember() {
	var gates [4 * hidden]float32
	for i := range gates {
		gates[i] = n.weights.gateBiases[i] + vector.Dot(n.weights.fromInput[i], n.code[:]) + vector.Dot(n.weights.state[i], n.hidden[:])
	}
	for i := range hidden {
		input, forget, output := sigmoid(gates[i]), sigmoid(gates[hidden+i]), sigmoid(gates[3*hidden+i])
		n.cell[i] = forget*n.cell[i] + input*tanh(gates[2*hidden+i])
		n.hidden[i] = output * tanh(n.cell[i])
	}
}

func sigmoid(x float32) float32 {
	return float32(1 / (1 + math.Exp(-float64(x))))
}

func tanh(x float32) float32 {
	return float32(math.Tanh(float64(x)))
}
