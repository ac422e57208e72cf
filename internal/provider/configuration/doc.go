// Package configuration is the configuration of the provider: credentials, hosts, clusters and stores. It also keeps
// the data that the resources of one run share, such as the last plans.
package configuration
