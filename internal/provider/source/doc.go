// Package source has what reads and writes control planes: the data sources kalypso_control_plane and
// kalypso_workloads, and the resource and the list kalypso_base_repo.
package source
