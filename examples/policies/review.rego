# A rendering of prod is delivered by pull request.
package main

import rego.v1

deny contains message if {
	some rendering in renderings
	rendering.environment == "prod"
	not reviewed(rendering)
	message := "The environment prod is delivered by pull request only. Set delivery.strategy = \"pull_request\"."
}

reviewed(rendering) if rendering.delivery.strategy == "pull_request"
