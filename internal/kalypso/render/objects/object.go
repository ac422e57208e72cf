package objects

import (
	"bytes"
	"hash/maphash"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Object is an object in a document of a rendered file. Its fields share memory with the scanned text. They are empty
// if the document is not a YAML map.
type Object struct {
	// Namespace is also empty for an object of the kind Namespace.
	APIVersion, Kind, Namespace, Name []byte

	Document int // its number in the file, from 1; empty documents do not count
}

// Group returns the API group of the object. The core group is empty.
func (o *Object) Group() []byte { return o.APIVersion[:max(0, bytes.IndexByte(o.APIVersion, '/'))] }

// isNamespace reports whether the object is a Namespace. A Namespace is in no namespace, even if its metadata names
// one.
func (o *Object) isNamespace() bool {
	return string(o.Kind) == "Namespace" && string(o.APIVersion) == "v1"
}

func (o *Object) clearNamespace() {
	if o.isNamespace() {
		o.Namespace = nil
	}
}

// namespace returns the namespace for comparisons. "default" becomes empty, since both mean the same.
func (o *Object) namespace() []byte {
	if string(o.Namespace) == "default" {
		return nil
	}
	return o.Namespace
}

// Same reports whether both objects are the same for a cluster: they have the same group, kind, namespace and name.
func (o *Object) Same(other *Object) bool {
	return bytes.Equal(o.Name, other.Name) && bytes.Equal(o.namespace(), other.namespace()) &&
		bytes.Equal(o.Kind, other.Kind) && bytes.Equal(o.Group(), other.Group())
}

var seed = maphash.MakeSeed()

// Hash returns a hash of the object's identity. It differs between processes.
func (o *Object) Hash() uint64 {
	const odd = 0x9e3779b97f4a7c15 // so that the hash depends on the order of the parts
	hash := maphash.Bytes(seed, o.Name)
	hash = hash*odd + maphash.Bytes(seed, o.namespace())
	hash = hash*odd + maphash.Bytes(seed, o.Kind)
	return hash*odd + maphash.Bytes(seed, o.Group())
}

// String returns the object's identity as kubectl writes it, such as "GitRepository.source.toolkit.fluxcd.io
// flux-system/shop".
func (o *Object) String() string {
	text := string(o.Kind)
	if group := o.Group(); len(group) > 0 {
		text += "." + string(group)
	}
	text += " "
	if len(o.Namespace) > 0 {
		text += string(o.Namespace) + "/"
	}
	return printable.Line(text + string(o.Name))
}
