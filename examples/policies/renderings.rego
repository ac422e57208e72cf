# The renderings as they will be after the apply. A value that is known after apply is missing.
package main

import rego.v1

renderings contains change.change.after if {
	some change in input.resource_changes
	change.type == "kalypso_environment_rendering"
	change.change.after != null
}
