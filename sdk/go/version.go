package parlance

import (
	"runtime/debug"
	"sync"
)

// APIVersion is the version of the contract that this package was written for. It is sent with
// every call as Parlance-Version.
const APIVersion = "2026-11-28"

const modulePath = "parlance.dev/parlance"

// userAgent names this package and its version, as the program's go.mod has it.
var userAgent = sync.OnceValue(func() string {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range append(info.Deps, &info.Main) {
			if module.Path == modulePath && module.Version != "" && module.Version != "(devel)" {
				version = module.Version
			}
		}
	}
	return "parlance-go/" + version
})
