// Package configuration is the configuration of the provider: credentials, hosts, clusters, stores, and what the
// resources of one run share.
package configuration
