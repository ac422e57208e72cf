// Package promotion has what moves a commit from one environment to the next: the data source kalypso_promotion, and
// the resources kalypso_deployment_gate and kalypso_commit_status.
package promotion
