package model

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// ObjectOf converts a model resource, or the same object written inline, into the domain's object. The attributes show
// which kind it is. It returns all problems of the object by itself.
func ObjectOf(v attr.Value) (fleet.Object, problem.Problems) {
	v = tfvalue.Underlying(v)
	attributes, ok := tfvalue.Members(v)
	if !ok {
		return nil, problem.Problems{{Summary: "Wrong type", Detail: "Expected a model resource, such as " +
			"kalypso_cluster_type.large, or an object with the arguments of one."}}
	}
	m, ps := kindOf(v.Type(context.Background()), slices.Sorted(maps.Keys(attributes)))
	if m == nil {
		return nil, ps
	}
	return m.checked(v)
}

// kindOf returns the model that an object of the type fits. If it fits no model or several, it returns the reason.
func kindOf(given attr.Type, attributes []string) (*model, problem.Problems) {
	var nearest []*model
	var fewest problem.Problems
	closest := 0
	for _, m := range All {
		arguments := m.argumentTypes()
		ps := mismatches(types.ObjectType{AttrTypes: arguments}, given, nil)
		distance := len(ps)
		for _, name := range attributes {
			if arguments[name] == nil {
				distance += math.MaxInt16 // the object is more likely of another kind than of this kind with a misspelled argument
			}
		}
		switch {
		case nearest == nil || distance < closest:
			nearest, fewest, closest = []*model{m}, ps, distance
		case distance == closest:
			nearest = append(nearest, m)
		}
	}
	list := strings.Join(attributes, ", ")
	switch {
	case len(nearest) == 1 && closest == 0:
		return nearest[0], nil
	case len(nearest) == 1:
		for i := range fewest {
			fewest[i].Detail += fmt.Sprintf(" By its attributes, the object is a %s.", resourceNames(nearest))
		}
		return nil, fewest
	case closest == 0:
		return nil, problem.Problems{{Summary: "Ambiguous object", Detail: fmt.Sprintf(
			"An object with the attributes %s may be any of %s. Add an attribute that only one of these has, or pass the "+
				"resource.", list, resourceNames(nearest))}}
	}
	return nil, problem.Problems{{Summary: "Unknown kind of object", Detail: fmt.Sprintf(
		"No model resource has the attributes %s with values like these. Write the arguments of one of %s.",
		list, resourceNames(All))}}
}

func resourceNames(models []*model) string {
	return strings.Join(lists.Map(models, func(m *model) string { return "kalypso_" + m.name }), ", ")
}

// mismatches returns where a type differs from the type of an argument. A value of a dynamic type has the type that it
// was written with: an object instead of a map, a tuple instead of a list, and no type for null.
func mismatches(want, given attr.Type, at []problem.Step) (ps problem.Problems) {
	wrongType := func(detail string) {
		ps = append(ps, problem.Problem{Path: at, Summary: "Wrong type", Detail: detail})
	}
	if given.Equal(types.DynamicType) {
		return nil
	}
	switch want := want.(type) {
	case types.ObjectType:
		switch given := given.(type) {
		case types.ObjectType:
			for _, name := range slices.Sorted(maps.Keys(given.AttrTypes)) {
				ps = append(ps, attributeMismatches(want, name, given.AttrTypes[name], at)...)
			}
		case types.MapType: // the decoder reads its keys
		default:
			wrongType("Expected an object.")
		}
	case types.MapType:
		switch given := given.(type) {
		case types.ObjectType:
			for _, key := range slices.Sorted(maps.Keys(given.AttrTypes)) {
				ps = append(ps, mismatches(want.ElemType, given.AttrTypes[key], below(at, problem.Key(key)))...)
			}
		case types.MapType:
			return mismatches(want.ElemType, given.ElemType, at)
		default:
			wrongType("Expected a map.")
		}
	case types.ListType:
		switch given := given.(type) {
		case types.TupleType:
			for i, element := range given.ElemTypes {
				ps = append(ps, mismatches(want.ElemType, element, below(at, problem.Index(i)))...)
			}
		case types.ListType:
			return mismatches(want.ElemType, given.ElemType, at)
		case types.SetType:
			return mismatches(want.ElemType, given.ElemType, at)
		default:
			wrongType("Expected a list.")
		}
	default:
		switch given.(type) {
		case types.ObjectType, types.MapType, types.TupleType, types.ListType, types.SetType:
			wrongType("Expected a string, a number or a bool.")
		}
	}
	return ps
}

// attributeMismatches compares an attribute of an object with the argument of the same name.
func attributeMismatches(want types.ObjectType, name string, given attr.Type, at []problem.Step) problem.Problems {
	at = below(at, problem.Attr(name))
	if argument, ok := want.AttrTypes[name]; ok {
		return mismatches(argument, given, at)
	}
	return problem.Problems{{Path: at, Summary: "Unsupported attribute", Detail: fmt.Sprintf("%q is not one of %s.", name,
		strings.Join(slices.Sorted(maps.Keys(want.AttrTypes)), ", "))}}
}

func below(at []problem.Step, step problem.Step) []problem.Step {
	return append(slices.Clone(at), step)
}
