package schemas

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
)

// PromotionArguments returns the arguments that choose a commit to promote.
func PromotionArguments() map[string]schema.Attribute {
	controlPlane := ControlPlaneArgument("The branch whose commits are promoted. Its first-parent history counts: the " +
		"commits that were merged or pushed to it.")
	controlPlane.Required, controlPlane.Optional = true, false
	return map[string]schema.Attribute{
		"environment": RequiredString("The environment. Its own status has the context `<environment> environment`.",
			stringvalidator.LengthAtLeast(1)),
		"control_plane": controlPlane,
		"gitops_repo": DestinationArgument("The destination of the environment's rendering, as in its `gitops_repo`. The " +
			"record there contains the current promoted commit; without a record, `.github/tracking/Promoted_Commit_Id` does."),
		"after": OptionalObjectMap(
			"The environments that must run a commit first, by name. All of them must.",
			map[string]schema.Attribute{
				"soak": OptionalDuration(
					"How long the environment must have run the commit, such as `4h`. The time counts from the first " +
						"good status of the present run to the first status of the context on another commit. A status that is not " +
						"good restarts it, and so does a gap, see `renewed_within`. The newest status must be good and not older than " +
						"the end of the soak, so set `renew_after` where the status is set. Hosts remove old statuses, so a soak that " +
						"is longer than the host keeps them never ends.",
				),
				"renewed_within": OptionalDuration(
					"How long a good status proves that the environment runs the commit, such as `1h`, the " +
						"default. If no other good status came in time, the soak restarts with the next one: in between, the " +
						"environment may have run a commit that no status shows. Set `renew_after` to less.",
				),
				"by": OptionalString(
					"The account that must have set the status: a login such as `octocat`, or an app such as `acme-ci[bot]`. " +
						"Without it, anyone who may write statuses can open the gate.",
				),
				"context": OptionalString(
					"The context of the status. The default is `<environment> environment`. `success` counts as " +
						"good, and so does `pending` with the description `Deployed`, which Kalypso's workflows set."),
				"deployed": OptionalObject(
					"A `kalypso_deployment_state` as a whole, instead of a status. The gate is open for its "+
						"`promoted_commit` if its verdict is `success`. It excludes the other arguments.",
					map[string]schema.Attribute{
						"verdict":         OptionalString("The verdict."),
						"promoted_commit": OptionalString("The commit that the verdict is about."),
						"summary":         OptionalString("The state in one line, for the reason why a commit waits."),
					},
				),
			},
		),
		"statuses": schema.DynamicAttribute{
			Optional: true,
			MarkdownDescription: "Statuses and check runs that must be successful on the commit: a map of their names to the " +
				"accounts that may set them, such as `{ ci = { by = \"github-actions[bot]\" }, qa-signoff = {} }`, or a list of " +
				"names. Without `by`, anyone who may write statuses can open the gate. With `by`, statuses of other accounts do " +
				"not count. A skipped or neutral check run is not successful.",
		},
		"dwell": OptionalDuration(
			"How long the current commit stays at least, such as `4h`, unless it failed. The time counts from the first good " +
				"status in the environment's own context. Set it to the `soak` of the next environment plus the time between two " +
				"runs: otherwise newer commits arrive before a soak can end."),
		"windows": WindowsArgument("When a commit may be promoted, like the sync windows of Argo CD: at most 100 windows. "+
			"In closed windows, the newest commit whose gates are open waits for the gate `window`, the environment's own "+
			"changes go out, and an open pull request that promotes a commit becomes a draft. `approved`, `pinned_commit` and "+
			"a rollback pass. A promotion that was planned in an open window is not applied after it closed. For the waves of "+
			"a rollout, see `rollout.windows` of the rendering.", true),
		"hold": OptionalString(
			"Freezes the environment. The text is the reason. Nothing is written there, neither a promotion nor a wave nor a " +
				"change of the environment's own objects, and an open pull request becomes a draft. `pinned_commit` has " +
				"precedence: to deliver the environment's own changes, pin the current commit instead.",
		),
		"pinned_commit": OptionalString(
			"The commit to render until the argument is removed, for a rollback: the full hash of a " +
				"commit on the branch. It needs no gate."),
		"approved": OptionalTexts("Full hashes of commits that need no gate, for a hotfix."),
		"rejected": OptionalStrings(
			"Bad commits, each with the first good commit after it, or null. The bad commit and all " +
				"commits up to the good one are not promoted, even if `approved` names them. If the environment has one of " +
				"these commits, also during a rollout, it is rolled back to the newest earlier delivery that is good: at once, " +
				"without waves.",
		),
		"rollback": rollbackArgument(),
	}
}

// ControlPlaneArgument returns the optional argument that names the branch whose commits are promoted.
func ControlPlaneArgument(description string) schema.SingleNestedAttribute {
	return OptionalObject(description, map[string]schema.Attribute{
		"repo":   OptionalString("URL of the control plane's repo. Required."),
		"branch": OptionalString("Branch, usually `main`. Required."),
		"verify": verifyArgument("The keys that must have signed a commit. A commit without such a signature waits at " +
			"the gate `signature`, unless `approved` or `pinned_commit` names it."),
	})
}

// rollbackArgument is the argument that rolls an environment back automatically.
func rollbackArgument() schema.SingleNestedAttribute {
	observed := ObservedAttribute("").Attributes
	observed["observed_at"] = OptionalString("When the clusters were observed. Required.")
	observed["head"] = OptionalString("The commit of the branch that was observed. Required.")
	observed["verdict"] = OptionalString("`success`, `pending` or `failure`. Required.")
	return OptionalObject(
		"Rolls the environment back automatically, as if its commit were `rejected`, once a folder "+
			"that the commit changed has failed. A folder that would get the same tree again causes no rollback. The commit "+
			"is never promoted again, unless `approved` lists it: the next promotion needs a newer commit. Until the "+
			"environment has been observed as `success` once, another failure is only reported. `hold`, `pinned_commit` and "+
			"`approved` have precedence. Without an earlier good delivery, the environment is `frozen` until the gates of a "+
			"newer commit are open. Without this argument, the environment is never rolled back automatically. Pass the "+
			"promotion to the rendering as a whole, so that its record says what was rolled back.",
		map[string]schema.Attribute{
			"observed": OptionalObject("The state of the environment's clusters: the whole object of a "+
				"`kalypso_deployment_state` with this `gitops_repo`. It is ignored if the branch has another head by now, or if "+
				"a source did not answer.", observed),
			"after": OptionalDuration("How long a folder must have failed, such as `15m`. By default the rollback comes at " +
				"once, because the folder only fails after the `progress_deadline` of the state."),
		},
	)
}

// PromotionComputed returns the computed attributes of a promotion.
func PromotionComputed() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"commit": ComputedText("The commit to render. Null if nothing is promoted yet, and no commit has all its gates " +
			"open."),
		"current":   ComputedText("The commit that is promoted now. Null if there is none."),
		"candidate": ComputedText("The newest commit that can be promoted once its gates are open. Null if there is none."),
		"proposed_commit": ComputedText("The commit that the open pull request of the rendering would promote. Null if " +
			"there is none."),
		"decision": ComputedText("`pinned` if `pinned_commit` is set; `frozen` if `hold` is set, or if a rejected or " +
			"failed commit has no good delivery before it; `rollback` if the current commit is rejected or failed; " +
			"`promote` if `commit` differs from `current`; `hold` if a rollout is under way or newer commits wait; " +
			"else `up_to_date`."),
		"waiting": ComputedObjects(fmt.Sprintf("The gates that newer commits wait for, newest commit first, at most %d.",
			promotion.MaxWaiting), map[string]schema.Attribute{
			"commit": ComputedText("The commit."),
			"gate": ComputedText("The environment or status, or `hold`, `dwell`, `rollout`, `rollback`, `window` or " +
				"`signature`."),
			"reason": ComputedText("Why the gate is closed, with the status, its creator and its time."),
			"by":     ComputedText("The account that set that status. Null if there is none."),
		}),
		"skipped": ComputedObjects(fmt.Sprintf("The commits that can't be promoted, newest first, at most %d.",
			promotion.MaxWaiting), map[string]schema.Attribute{
			"commit": ComputedText("The commit."),
			"reason": ComputedText("Why: it was rejected, or rolled back."),
		}),
		"reason": ComputedText("Why `commit` was chosen: the gates and the accounts that opened them, or the overrides. " +
			"It stays the same after the commit is promoted, so an output of it changes only with the commit. Null if unknown."),
		"summary": ComputedText("The decision of this run for people, with its gates, its overrides and the commits that " +
			"wait."),
		"rolled_back": ComputedText("The newest commit that a rollback removed, for the record. It is not promoted again " +
			"without `approved`. Null if there is none."),
		"closed": ComputedText("When the closed windows open, as a text such as `closed until 2027-01-04T08:00:00+01:00 " +
			"(2027-01-04T07:00:00Z)`. It stays the same until they open. Null while they are open."),
		"opens_at": ComputedText(fmt.Sprintf("When the windows open next. Null while they are open, and if they do not open "+
			"within %d years.", windows.Horizon)),
		"open_until": ComputedText(fmt.Sprintf("When the windows close next. Null while they are closed, and if they do not "+
			"close within %d years. A promotion that is applied later fails, and writes nothing: plan again.",
			windows.Horizon)),
		"by": ComputedText("`rollback` if the environment was rolled back to `commit` automatically. Null if gates or " +
			"people chose the commit."),
		"unsettled": ComputedBool("`true` if the environment was rolled back automatically, and has not been observed as " +
			"`success` since: until then it is not rolled back automatically again. `false` once it succeeds, so that the " +
			"record notes the success. Else null."),
		"unproven": ComputedText("Why the gates of `current` are closed now. Null if they are open, if `approved` or " +
			"`pinned_commit` names the commit, if it is the target of a rollback, or if there is no commit. `current` comes " +
			"from the record, and anyone who may push to the GitOps branch can write the record. So a rendering that " +
			"delivered another commit accepts `current` only if this is null."),
		"unverified": ComputedText("Why the signature of `commit` does not count, although `approved` or `pinned_commit` " +
			"names it. `kalypso_control_plane` reads such a commit with a warning. Else null."),
		VerifiedAttribute: verifiedOutput(),
	}
}
