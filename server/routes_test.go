package server

import (
	"net/http/httptest"
	"testing"

	"parlance.dev/parlance/server/interceptor"
)

func TestRouteName(t *testing.T) {
	t.Parallel()
	name := routeName(interceptor.Policies{"/parlance.v1.ToolService/GetTool": {}})
	for path, want := range map[string]string{
		"/parlance.v1.ToolService/GetTool":                               "/parlance.v1.ToolService/GetTool",
		"/grpc.health.v1.Health/Check":                                   "/grpc.health.v1.Health/Check",
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
		"/grpc.health.v1.Health/Guess":                                   unmatched,
		"/any.Service/Method":                                            unmatched,
		"/wp-login.php":                                                  unmatched,
	} {
		if got := name(httptest.NewRequest("POST", path, nil)); got != want {
			t.Errorf("%s: route %q, want %q", path, got, want)
		}
	}
}
