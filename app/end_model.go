package app

import (
	"cmp"
	"fmt"

	"parlance.dev/parlance/provider/endmodel"
)

// onnxruntimeLibrary is looked for where the system has its libraries.
const onnxruntimeLibrary = "libonnxruntime.so"

// openEndModel loads the model of the end of turns, if one is set. Workers have no calls: they need
// neither its file nor its library.
func (a *App) openEndModel(component string) error {
	metrics := endmodel.NewMetrics(a.metrics.Registry)
	if a.Config.EndModel == "" || component == "worker" {
		return nil
	}
	model, err := endmodel.Open(endmodel.Params{
		Path: a.Config.EndModel, Library: cmp.Or(a.Config.ONNXRuntime, onnxruntimeLibrary), Metrics: metrics, Log: a.log, Now: a.now,
	})
	if err != nil {
		return fmt.Errorf("PARLANCE_STT_END_MODEL: %w", err)
	}
	a.endModel = model
	return nil
}
