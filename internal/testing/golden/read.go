package golden

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// Variable is the environment variable with a folder of more golden fleets, in the same layout as the folder of this
// repo. A fleet that is identical to a fleet of this repo is skipped. A different fleet with the same name gets the
// suffix "-more".
const Variable = "KALYPSO_GOLDEN"

// folder is the path of this repo's golden fleets, from the root. Large and random fleets are archives. The README.md
// in the folder describes the layout and the format.
const folder = "internal/kalypso/engine/testdata/golden"

const archiveSuffix = ".tar.gz"

// read returns the golden fleets of this repo and of the folder that [Variable] names, sorted by name.
func read() ([]*Fleet, error) {
	all, err := readFolder(filepath.Join(programs.Root(), folder))
	if err != nil {
		return nil, err
	}
	if more := os.Getenv(Variable); more != "" {
		added, err := readFolder(more)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Variable, err)
		}
		all = add(all, added)
	}
	slices.SortFunc(all, func(a, b *Fleet) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Find returns the golden fleet with a name.
func Find(name string) (*Fleet, error) {
	all, err := read()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(f *Fleet) bool { return f.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no golden fleet %s", name)
	}
	return all[i], nil
}

// add adds fleets to others, without duplicates, as [Variable] describes.
func add(all, more []*Fleet) []*Fleet {
	for _, f := range more {
		i := slices.IndexFunc(all, func(own *Fleet) bool { return own.Name == f.Name })
		if i >= 0 && reflect.DeepEqual(all[i], f) {
			continue
		}
		if i >= 0 {
			f.Name += "-more"
		}
		all = append(all, f)
	}
	return all
}

func readFolder(dir string) ([]*Fleet, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []*Fleet
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		name, archive := strings.CutSuffix(e.Name(), archiveSuffix)
		var files map[string]string
		switch {
		case e.IsDir():
			files, err = Files(os.DirFS(at))
		case archive:
			files, err = unpack(at, name+"/")
		default:
			continue
		}
		var f *Fleet
		if err == nil {
			f, err = fleetOf(name, files)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// fleetOf returns the golden fleet with these files.
func fleetOf(name string, files map[string]string) (*Fleet, error) {
	f := &Fleet{Name: name, Objects: map[string]string{}, Existing: map[string]string{}, Tree: map[string]string{}}
	for path, content := range files {
		if below, ok := strings.CutPrefix(path, "input/gitops-existing/"); ok {
			f.Existing[below] = content
		} else if below, ok := strings.CutPrefix(path, "input/"); ok {
			f.Objects[below] = content
		} else if below, ok := strings.CutPrefix(path, "expected/tree/"); ok {
			f.Tree[below] = content
		}
	}
	if err := json.Unmarshal([]byte(files["expected/summary.json"]), &f.Summary); err != nil {
		return nil, fmt.Errorf("expected/summary.json: %w", err)
	}
	return f, nil
}

// Files returns the content of all files of a folder, by path.
func Files(folder fs.FS) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		files[path] = string(content)
		return err
	})
	return files, err
}

// unpack reads the files of an archive, which are all in one folder.
func unpack(archive, folder string) (map[string]string, error) {
	file, err := os.Open(archive) //nolint:gosec // a file of tests
	if err != nil {
		return nil, err
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for entries := tar.NewReader(packed); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(entries)
		}
		if err != nil {
			return nil, err
		}
		if entry.Typeflag == tar.TypeReg {
			files[strings.TrimPrefix(entry.Name, folder)] = string(content)
		}
	}
}
