package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes the program's bill of materials: the modules that the linker says are in it.
func (r release) bill(p platform) (err error) {
	info, err := buildinfo.ReadFile(r.binary(p))
	if err != nil {
		return fmt.Errorf("reading what the program is made of: %w", err)
	}
	self := moduleOf(info.Main.Path, r.version)
	self.Type = cyclonedx.ComponentTypeApplication
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &self}
	goToolchain := moduleOf("std", info.GoVersion)
	components, refs := []cyclonedx.Component{goToolchain}, []string{goToolchain.BOMRef}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		component := moduleOf(module.Path, module.Version)
		components, refs = append(components, component), append(refs, component.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	file, err := os.Create(filepath.Join(r.dist, r.name(p)+".cdx.json"))
	if err != nil {
		return fmt.Errorf("making the bill of materials: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return fmt.Errorf("writing the bill of materials: %w", err)
	}
	return nil
}

func moduleOf(path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}
