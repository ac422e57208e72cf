// Package acc runs acceptance tests: a test writes a configuration into a [Root], runs the real Terraform CLI on it with
// the provider of this tree, and checks plans, states, diagnostics and branches. [ProtocolRun] does the same through
// Terraform's protocol, without the CLI.
package acc
