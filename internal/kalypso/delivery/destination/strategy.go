package destination

// Strategy is the way in which a change is delivered to its branch.
type Strategy string

// The strategies. [unknown.Text] says that the strategy is not known yet.
const (
	Push        Strategy = "push"         // commits to the branch
	PullRequest Strategy = "pull_request" // commits to a branch of its own, and opens a pull request
	None        Strategy = "none"         // contacts no server and writes nothing
)
