package observation

import (
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// format1 contains the instances of a text in format 1. Builds before the first release wrote this format to states.
type format1 struct {
	Clusters []string `json:"clusters,omitempty"`
	Unit     int64    `json:"unit,omitzero"` // of times, in milliseconds
	Folders  []folder `json:"folders,omitempty"`
}

// folder contains the instances of a cluster type.
type folder struct {
	ClusterType string `json:"cluster_type"`
	// Clusters says which of the document's clusters belong to the cluster type, as lengths of runs: the number of
	// clusters that do not belong to it, then the number that do, and so on.
	Clusters []int     `json:"clusters"`
	Targets  []target1 `json:"targets"`
}

// target1 contains the instances of a deployment target. Its columns have a value for each of the folder's clusters, as
// runs: value, length, value, length …
type target1 struct {
	Name     string  `json:"target"`
	Groups   []group `json:"groups"`
	Column   []int   `json:"column"`             // 1 and more: the group; 0: no instance
	Messages []int   `json:"messages,omitempty"` // 1 and more: the message; 0: none
	Known    []int   `json:"known,omitempty"`    // 1: Since has a time
	// Since contains the time of each cluster with Known = 1. The time is a difference to From. If From is 0, it is the
	// difference to the cluster's last time in the previous targets.
	Since []int64 `json:"since,omitempty"`
	From  int64   `json:"from,omitempty"`
}

// toRows converts the instances to rows.
func (d *document) toRows() error {
	rows := lists.Map(d.Format1.Clusters, func(cluster string) *row { return &row{Cluster: cluster} })
	d.Rows = rows
	left := maxInstances
	for _, f := range d.Format1.Folders {
		var own []*row
		at := 0
		for i, n := range f.Clusters {
			if n < 0 || n > len(rows)-at {
				return errColumn
			}
			if i%2 == 1 {
				own = append(own, rows[at:at+n]...)
			}
			at += n
		}
		last := make([]int64, len(own))
		for _, t := range f.Targets {
			left -= len(own)
			if left < 0 {
				return errSize
			}
			if !t.addTo(own, last, d.Format1.Unit, len(d.Groups)) {
				return errColumn
			}
			for _, g := range t.Groups {
				d.Groups = append(d.Groups, group{f.ClusterType, t.Name, g.Version, g.State})
			}
		}
	}
	return nil
}

// addTo adds the instances of a target to the rows of its clusters. last contains the last time of each cluster. first
// is the index of the target's first group. addTo reports whether the columns fit.
func (t target1) addTo(rows []*row, last []int64, unit int64, first int) bool {
	column, ok1 := expand(t.Column, len(rows), len(t.Groups))
	messages, ok2 := expand(t.Messages, len(rows), maxInstances)
	known, ok3 := expand(t.Known, len(rows), 1)
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	next := t.Since
	for i, r := range rows {
		since := int64(0)
		if known[i] == 1 {
			if len(next) == 0 {
				return false
			}
			if t.From != 0 {
				last[i] = t.From
			}
			last[i] += next[0]
			since, next = last[i]*unit, next[1:]
		}
		if column[i] > 0 {
			r.Groups, r.Since = append(r.Groups, first+column[i]-1), append(r.Since, since)
			r.Messages = append(r.Messages, messages[i])
		}
	}
	return true
}

// expand returns the n values that a column encodes as runs. An empty column means n zeros. ok is false if the column
// does not have exactly n values from 0 to most.
func expand(column []int, n, most int) (values []int, ok bool) {
	if len(column) == 0 {
		return make([]int, n), true
	}
	for i := 0; i+1 < len(column); i += 2 {
		v, length := column[i], column[i+1]
		if v < 0 || v > most || length < 0 || length > n-len(values) {
			return nil, false
		}
		values = append(values, slices.Repeat([]int{v}, length)...)
	}
	return values, len(values) == n
}
