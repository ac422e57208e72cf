package inventory

// Known says how much of something is known. The zero value is [Whole], as of what a branch or a state contains.
type Known int

// The steps of knowledge, in order.
const (
	Unread  Known = iota - 2 // nothing: it depends on a branch that was not read, or on values that are not known yet
	Partial                  // a part
	Whole                    // all
)

// Known returns what is known of each folder.
func (inv Folders) Known() Known {
	least := Whole
	for _, folder := range inv {
		least = min(least, folder.Known)
	}
	return least
}
