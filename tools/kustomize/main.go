// The program kustomize builds folders as the command kustomize build does. Tests run it, so that they need not link
// kustomize, and the provider's module graph contains no module that kustomize alone needs.
//
// It reads folders from its input, and writes a result for each, as JSON values. It ends with its input.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// folder contains the texts of files by their paths. The file kustomization.yaml is one of them.
type folder map[string][]byte

// result contains the objects of a folder as one stream of YAML documents, or the reason why it can't be built.
type result struct{ Objects, Failed string }

func main() {
	log.SetFlags(0)
	log.SetOutput(io.Discard) // kustomize logs its warnings
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var f folder
		err := in.Decode(&f)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = out.Encode(build(f))
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
	}
}

func build(f folder) (built result) {
	defer func() {
		if failed := recover(); failed != nil { // as for annotations that are a list
			built = result{Failed: fmt.Sprint("panic: ", failed)}
		}
	}()
	disk := filesys.MakeFsInMemory()
	for name, text := range f {
		if err := disk.WriteFile(path.Join("/", name), text); err != nil {
			return result{Failed: err.Error()}
		}
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, "/")
	if err != nil {
		return result{Failed: err.Error()}
	}
	text, err := objects.AsYaml()
	if err != nil {
		return result{Failed: err.Error()}
	}
	return result{Objects: string(text)}
}
