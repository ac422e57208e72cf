// Package upgrade has states, branches and history stores that earlier versions wrote, and the test that reads them.
package upgrade
