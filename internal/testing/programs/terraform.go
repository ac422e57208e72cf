package programs

import (
	"cmp"
	"fmt"
	"os"
)

// TerraformCLI returns the command or path of Terraform or OpenTofu.
func TerraformCLI() string { return cmp.Or(os.Getenv("TF_ACC_TERRAFORM_PATH"), "terraform") }

// Overriding returns a CLI configuration with which Terraform uses the provider in a folder.
func Overriding(folder string) string {
	return fmt.Sprintf(`disable_checkpoint = true
provider_installation {
  dev_overrides {
    "terraform-kalypso/kalypso" = %q
  }
}
`, folder)
}
