package source

import (
	"context"
	"fmt"
	"path"
)

// File reads one YAML file of a repo: at the commit of the location, or at the head of its branch. The path of the file
// is relative to the repo's root; the path of the location doesn't matter. The reader keeps all files of the file's
// folder, so reading another of them needs no request. It reads the same files as [Reader.ControlPlane]. Any error is a
// [Problem].
func (r *Reader) File(ctx context.Context, at Location, file string) (text string, err error) {
	at.Path = path.Dir(file)
	c := r.read(ctx, []Location{at})[0]
	if c.err != nil {
		return "", c.location.problem("", c.err)
	}
	file = path.Clean(file)
	text, ok := c.text[file]
	if ok {
		return text, nil
	}
	for _, p := range c.problems("") {
		if p.File == file { // too large
			return "", p
		}
	}
	return "", Problem{Location: c.location, File: file, Summary: "File not found",
		Detail: fmt.Sprintf("The repo has no YAML file %q at this commit, or %s excludes it.", file, ignoreFile)}
}
