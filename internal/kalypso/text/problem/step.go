package problem

// Step is a step of a [Problem]'s path: an [Attr], an [Index] or a [Key].
type Step interface{ step() }

type (
	// Attr is the step to an attribute, named as in Terraform.
	Attr string
	// Index is the step to an element of a list.
	Index int
	// Key is the step to an element of a map.
	Key string
)

func (Attr) step()  {}
func (Index) step() {}
func (Key) step()   {}
