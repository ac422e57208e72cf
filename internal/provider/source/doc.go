// Package source reads and writes control planes: it has the data sources kalypso_control_plane and kalypso_workloads,
// and the resource and the list kalypso_base_repo.
package source
