// Package deployment shows what runs where: it has the data sources kalypso_clusters, kalypso_comparison,
// kalypso_deployment_state and kalypso_deployment_history, and the resource kalypso_deployment_record.
package deployment
