package versions

// Parse reads the version from the files of a target.
func Parse(files map[string][]byte) (Manifests, error) { return parse(files) }
