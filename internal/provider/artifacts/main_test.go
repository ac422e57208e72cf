package artifacts_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

func TestMain(m *testing.M) { acc.Main(m) }
