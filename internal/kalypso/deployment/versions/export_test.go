package versions

// Parse reads the files of a place.
func Parse(files map[string][]byte) (Manifests, error) { return parse(files) }
