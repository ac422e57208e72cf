package deployment

import "errors"

// reportSize is about how many bytes a report has beside its texts.
const reportSize = 256

// ErrTooManyReports means that the reports of a source have too many bytes.
var ErrTooManyReports = errors.New("it has too many reports")

// Collector collects the reports of a source. A few objects that refer to each other can make many reports: each object
// that syncs a folder has a report for each object in the folder.
type Collector struct {
	Reports []Report
	Max     int // bytes of all reports
	size    int
}

// Add adds a report. It returns [ErrTooManyReports] once the reports have more than Max bytes.
func (c *Collector) Add(r Report) error {
	c.size += reportSize + len(r.Cluster) + len(r.Folder) + len(r.Object) + len(r.Revision) + len(r.Message)
	if c.size > c.Max {
		return ErrTooManyReports
	}
	c.Reports = append(c.Reports, r)
	return nil
}
