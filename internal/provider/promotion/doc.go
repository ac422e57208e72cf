// Package promotion moves commits from one environment to the next. It has the data source kalypso_promotion, and the
// resources kalypso_deployment_gate and kalypso_commit_status.
package promotion
