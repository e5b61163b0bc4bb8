package app

import (
	"slices"
	"strings"
)

// foreign are variables with our prefix that are no settings: those of commands that are clients,
// of the compose file, of the tests and of Kubernetes, which names services so.
var foreign = []string{
	"PARLANCE_BASE_URL", "PARLANCE_API_KEY", "PARLANCE_WORKSPACE_ID", "PARLANCE_AGENT_ID",
	"PARLANCE_DOMAIN", "PARLANCE_UPSTREAM", "PARLANCE_IMAGE",
}

// UnknownVariables are the names with our prefix that nothing reads.
func UnknownVariables(environ []string) []string {
	known := slices.Clone(foreign)
	for _, setting := range Settings() {
		known = append(known, setting.Env(), setting.Env()+"_FILE")
	}
	var unknown []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		isOurs := strings.HasPrefix(name, "PARLANCE_") && !strings.HasPrefix(name, "PARLANCE_TEST_")
		isService := strings.HasPrefix(name, "PARLANCE_SERVICE_") || strings.HasPrefix(name, "PARLANCE_PORT")
		if isOurs && !isService && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
