# Each deployment target is placed, and none for tests runs on a restricted cluster type.
package main

import rego.v1

deny contains message if {
	some rendering in renderings
	some target in rendering.unscheduled
	message := sprintf("In %s, no policy places %s.", [rendering.environment, target])
}

deny contains message if {
	some rendering in renderings
	some target, _ in rendering.assignments[restricted]
	contains(target, "test")
	message := sprintf("In %s, %s would run on the restricted cluster type %s.", [rendering.environment, target, restricted])
}

restricted := "drone"
