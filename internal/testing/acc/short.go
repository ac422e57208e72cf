package acc

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// short lists the tests with the CLI that also run with -short, as make test does. They test each object once with
// Terraform, and the usual mistakes. The other tests with the CLI run in make testacc, make test-all, and CI: stories
// of many applies, faults of servers, killed processes, and examples with other programs. The rules behind them have
// tests without the CLI, which run with -short too.
var short = strings.Fields(`
TestAccApplicationTeam
TestAccAssignmentsFailed TestAccAssignmentsUnknown TestAccAssignmentsWhy TestAccBaseRepo TestAccBaseRepoDrift
TestAccBaseRepoImport TestAccBrokenNewTargetIsLeftOut TestAccBrokenTeams TestAccClusterSyncFunction TestAccClusters
TestAccClustersUnknown TestAccCommitStatusInvalid TestAccCommitStatusLifecycle TestAccCommitStatusUnknown
TestAccControlPlaneImport TestAccControlPlaneSample TestAccControlPlaneUnknownProvider TestAccControlPlaneValidate
TestAccDeploymentGate TestAccDeploymentGateInvalid TestAccDeploymentHistory TestAccDeploymentRecordErrors
TestAccDeploymentState TestAccDeploymentStateInvalid TestAccDeploymentStateRows TestAccDeploymentStateUnknownCluster
TestAccExamples TestAccExamplesFunctions TestAccFirstFleet TestAccFleetPageFunction TestAccFleetPageUnknown
TestAccGitLabRefused TestAccGoldenFleets TestAccImportBlocksOfEverything TestAccImportErrors
TestAccImportGeneratesConfiguration TestAccLimits TestAccManifestFunction TestAccMistakes TestAccModelIdentity
TestAccModelImportCommand TestAccModelResources TestAccModelUnknown TestAccModule TestAccNamespaceFunction
TestAccNullVariableSelectsNothing TestAccOCIArtifacts TestAccPlacement TestAccPlacementDecisionsFunction
TestAccPlacementReasons TestAccPlatform TestAccPlans TestAccPreview TestAccPromotionDeployed TestAccPromotionPlan
TestAccPromotionPullRequest TestAccProtocol TestAccProviderSecrets TestAccProviderUnknown TestAccPullRequestFields
TestAccPullRequestInput TestAccPullRequestLabels TestAccPullRequestMoves TestAccReadme TestAccRenderTemplateFunction
TestAccRenderingAdopt TestAccRenderingDrift TestAccRenderingGuardrails TestAccRenderingIdentity TestAccRenderingImport
TestAccRenderingLife TestAccRenderingMoves TestAccRenderingOrphaned TestAccRenderingUnreachable
TestAccRenderingUnreadablePrivateState
TestAccRollout TestAccRolloutInput TestAccRolloutPreview TestAccSample TestAccSecretValuesInConfigs TestAccSecrets
TestAccSecretsInConfigurationErrors TestAccSelectorMatchesFunction TestAccSourcesInput TestAccTeamText
TestAccTerraformTest TestAccUnknownClusterType TestAccUnknownProvider TestAccUnknownRefused TestAccValidate
TestAccValidateProvider TestAccWorkloads
`)

// NeedTerraform skips the test if TF_ACC is not set, or if the tests run with -short and it is not in [short].
func NeedTerraform(t *testing.T) {
	t.Helper()
	_ = os.Getenv(programs.NotRun) // makes Go run the test again, see programs.NotRun
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set: the test runs the Terraform CLI")
	}
	if name, _, _ := strings.Cut(t.Name(), "/"); testing.Short() && !slices.Contains(short, name) {
		t.Skip("it does not run with -short, but in make testacc")
	}
}
