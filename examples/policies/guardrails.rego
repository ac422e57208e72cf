# Each rendering limits how much one apply removes.
package main

import rego.v1

deny contains message if {
	some rendering in renderings
	not limited(rendering)
	message := sprintf("The rendering of %s has no limit for removals. Set guardrails.max_removed.", [rendering.environment])
}

limited(rendering) if rendering.guardrails.max_removed != null
