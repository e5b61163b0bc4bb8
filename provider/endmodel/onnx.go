//go:build onnxruntime && cgo

package endmodel

import (
	"errors"
	"fmt"
	"strings"

	ort "github.com/yalue/onnxruntime_go"
)

// Built says whether this program can run the network.
const Built = true

// inputName is the only input of Smart Turn v3.
const inputName = "input_features"

// onnx is the network as a session of onnxruntime. The session is shared: it may run several times
// at once.
type onnx struct {
	session *ort.DynamicAdvancedSession
	output  ort.Shape
}

// openNetwork loads the library and the file. Errors say what the operator can do.
func openNetwork(p Params) (network, error) {
	ort.SetSharedLibraryPath(p.Library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return nil, fmt.Errorf("load onnxruntime %s (1.24 or newer of this platform is needed): %w", p.Library, err)
	}
	loaded, err := load(p.Path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.Path, err), ort.DestroyEnvironment())
	}
	return loaded, nil
}

// load reads a file and checks that it is a network of the right kind.
func load(path string) (_ *onnx, err error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, fmt.Errorf("prepare a session: %w", err)
	}
	defer func() { err = errors.Join(err, options.Destroy()) }()
	if err := configure(options); err != nil {
		return nil, fmt.Errorf("prepare a session: %w", err)
	}
	inputs, outputs, err := ort.GetInputOutputInfoWithOptions(path, options)
	if err != nil {
		return nil, fmt.Errorf("onnxruntime %s cannot read it: %w", ort.GetVersion(), err)
	}
	if len(inputs) != 1 || inputs[0].Name != inputName || !isFloats(inputs[0]) || !fits(inputs[0].Dimensions, melBands, frames) {
		return nil, fmt.Errorf("its input is %s, not %s with floats of [N, %d, %d]: only Smart Turn v3 can be used",
			describe(inputs), inputName, melBands, frames)
	}
	if len(outputs) != 1 || !isFloats(outputs[0]) || !isOne(outputs[0].Dimensions) {
		return nil, fmt.Errorf("its output is %s, not one probability: only Smart Turn v3 can be used", describe(outputs))
	}
	session, err := ort.NewDynamicAdvancedSession(path, []string{inputName}, []string{outputs[0].Name}, options)
	if err != nil {
		return nil, fmt.Errorf("make a session: %w", err)
	}
	output := outputs[0].Dimensions.Clone()
	for i := range output {
		output[i] = 1
	}
	return &onnx{session, output}, nil
}

// configure keeps a judgement on the processor of its worker.
func configure(o *ort.SessionOptions) error {
	return errors.Join(
		o.SetIntraOpNumThreads(1), o.SetInterOpNumThreads(1), o.SetExecutionMode(ort.ExecutionModeSequential),
		o.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll),
	)
}

// describe names inputs or outputs for the operator.
func describe(infos []ort.InputOutputInfo) string {
	var texts []string
	for i := range infos {
		texts = append(texts, infos[i].String())
	}
	return strings.Join(texts, " and ")
}

func isFloats(info ort.InputOutputInfo) bool {
	return info.OrtValueType == ort.ONNXTypeTensor && info.DataType == ort.TensorElementDataTypeFloat
}

// fits reports whether a shape takes one spectrogram: its first dimension is 1 or open.
func fits(shape ort.Shape, rest ...int64) bool {
	return len(shape) == 1+len(rest) && isOne(shape[:1]) && shape[1:].Equals(ort.NewShape(rest...))
}

// isOne reports whether a shape can have one element. An open dimension is −1.
func isOne(shape ort.Shape) bool {
	for _, dimension := range shape {
		if dimension != 1 && dimension != -1 {
			return false
		}
	}
	return len(shape) > 0
}

func (o *onnx) newJudge() (judge, error) {
	input, err := ort.NewEmptyTensor[float32](ort.NewShape(1, melBands, frames))
	if err != nil {
		return nil, err
	}
	output, err := ort.NewEmptyTensor[float32](o.output)
	if err != nil {
		return nil, errors.Join(err, input.Destroy())
	}
	return &onnxJudge{o.session, input, output}, nil
}

func (o *onnx) close() error {
	return errors.Join(o.session.Destroy(), ort.DestroyEnvironment())
}

// onnxJudge has the buffers of one run.
type onnxJudge struct {
	session *ort.DynamicAdvancedSession
	in, out *ort.Tensor[float32]
}

func (j *onnxJudge) input() []float32 { return j.in.GetData() }

func (j *onnxJudge) probability() (float32, error) {
	if err := j.session.Run([]ort.Value{j.in}, []ort.Value{j.out}); err != nil {
		return 0, err
	}
	return j.out.GetData()[0], nil
}

func (j *onnxJudge) close() error { return errors.Join(j.in.Destroy(), j.out.Destroy()) }
