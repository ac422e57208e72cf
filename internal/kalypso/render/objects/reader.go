// Package objects reads the identities of the Kubernetes objects in a rendered file, as a cluster that syncs the file
// sees them, and finds documents that no cluster can apply.
package objects

import (
	"bytes"
	"slices"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
)

// Reader reads the objects of files, and finds files that no cluster can apply, since kustomize refuses them. The zero
// value is ready, and safe for concurrent use. Of all files with the same shape, it parses only the first; see
// [shaper].
type Reader struct {
	layouts sync.Map // shape → layout
	invalid sync.Map // shape → *Invalid
	shapers sync.Pool
}

func (r *Reader) shaper() *shaper {
	if s, ok := r.shapers.Get().(*shaper); ok {
		return s
	}
	return &shaper{}
}

// Read appends the objects in the documents of a YAML text to found, in order. The items of a list count as objects.
func (r *Reader) Read(found []Object, text []byte) []Object {
	s := r.shaper()
	defer r.shapers.Put(s)
	shape := s.shape(text)
	known, ok := r.layouts.Load(shape)
	if !ok {
		known, _ = r.layouts.LoadOrStore(shape, s.layout(text))
	}
	l := known.(layout) //nolint:forcetypeassert // nothing else is stored
	if l.irregular {
		return append(found, Parse(text)...)
	}
	for i := range l.objects {
		found = append(found, l.objects[i].in(text, s.starts))
	}
	return found
}

// Check returns nil if kustomize reads the text of a file with that name.
func (r *Reader) Check(name string, text []byte) *Invalid {
	if slices.Contains(konfig.RecognizedKustomizationFileNames(), name) { // it contains no object
		return (&documentText{text: text}).syntaxFault()
	}
	s := r.shaper()
	defer r.shapers.Put(s)
	shape := s.shape(text)
	known, ok := r.invalid.Load(shape)
	if !ok {
		known, _ = r.invalid.LoadOrStore(shape, check(text))
	}
	return known.(*Invalid) //nolint:forcetypeassert // nothing else is stored
}

// layout says where texts of a shape contain their objects.
type layout struct {
	objects   []identity
	irregular bool // the texts differ in a part of an object that is more than the value of a line
}

// identity says where a text contains the parts of an object's identity.
type identity struct {
	apiVersion, kind, namespace, name place
	document                          int
}

func (i *identity) in(text []byte, starts []int) Object {
	o := Object{
		APIVersion: i.apiVersion.in(text, starts), Kind: i.kind.in(text, starts),
		Namespace: i.namespace.in(text, starts), Name: i.name.in(text, starts), Document: i.document,
	}
	o.clearNamespace()
	return o
}

// place is the value of a line, or a text that is the same in all texts of the shape.
type place struct {
	line, from, after int        // after: the bytes of the line after the value
	class             valueClass // [otherValue]: the same text
	same              []byte
}

func (p *place) in(text []byte, starts []int) []byte {
	if p.class == otherValue {
		return p.same
	}
	return p.class.text(text[starts[p.line]+p.from : starts[p.line+1]-p.after])
}

// layout returns where texts of the same shape as this one contain their objects. The text must be the last one whose
// shape was computed.
func (s *shaper) layout(text []byte) (l layout) {
	// To YAML, more than \n is a line break.
	if l.irregular = bytes.ContainsAny(text, "\r\u0085\u2028\u2029"); l.irregular {
		return l
	}
	place := func(f field) place {
		if f.line == 0 || f.line >= len(s.starts) {
			return place{same: []byte(f.text)}
		}
		line := text[s.starts[f.line-1]:s.starts[f.line]]
		start, end, class := variable(line)
		p := place{line: f.line - 1, from: start, after: len(line) - end, class: class, same: []byte(f.text)}
		l.irregular = l.irregular || string(p.in(text, s.starts)) != f.text || !bytes.Contains(line, p.same)
		return p
	}
	for _, h := range parse(text) {
		l.objects = append(l.objects, identity{
			place(h.APIVersion), place(h.Kind), place(h.Metadata.Namespace), place(h.Metadata.Name), h.document,
		})
	}
	return l
}
