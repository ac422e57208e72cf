package delivery

import "slices"

// Foresee is what [Check] would say of an order for a place that is known, as far as the last read of its branch tells: what it
// would take over, and why it could not be delivered. It contacts nothing. An order for another place is judged by its
// guardrails alone.
func (o *Order) Foresee() (t Takeover, errs []error) {
	before := o.Before
	wanted := FootprintOf(o.Tree)
	if err := o.Guardrails.Check(before.Seen, wanted, before.Aim() != o.Environment); err != nil {
		errs = append(errs, err)
	}
	if !o.updates() {
		return t, errs
	}
	needed := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			_, ok := wanted[name]
			return !ok
		})
	}
	if inTheWay := needed(before.Files); len(inTheWay) > 0 {
		errs = append(errs, noFolders(o.Place, inTheWay))
	}
	switch foreign := needed(before.Others); {
	case len(foreign) == 0:
	case o.Adopt:
		t.Adopted = foreign
	default:
		errs = append(errs, notOurs(o.Place, foreign))
	}
	return t, errs
}
