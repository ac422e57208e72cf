// Package acc runs acceptance tests of the provider.
//
// A test writes a configuration into a [Root], runs the real Terraform CLI on it with the provider built from this
// repo, and checks plans, states, diagnostics and branches. A [ProtocolRun] does the same through Terraform's protocol,
// without the CLI.
package acc
