package loglevel_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/loglevel"
)

func TestSet(t *testing.T) {
	type levels struct{ sdk, framework, proto string }
	for name, c := range map[string]struct {
		env  map[string]string
		want levels
	}{
		"no level is set":           {nil, levels{"OFF", "OFF", "OFF"}},
		"only a level of Terraform": {map[string]string{"TF_LOG": "info"}, levels{"INFO", "INFO", "INFO"}},
		"a level of providers": {map[string]string{"TF_LOG": "TRACE", "TF_LOG_PROVIDER": "WARN"},
			levels{"WARN", "WARN", "WARN"}},
		"level TRACE of providers":       {map[string]string{"TF_LOG": "WARN", "TF_LOG_PROVIDER": "TRACE"}, levels{}},
		"level TRACE of Terraform":       {map[string]string{"TF_LOG": "TRACE"}, levels{}},
		"all logs as JSON":               {map[string]string{"TF_LOG": "JSON"}, levels{}},
		"a level that Terraform ignores": {map[string]string{"TF_LOG": "LOUD"}, levels{}},
		"a level of one subsystem":       {map[string]string{"TF_LOG_SDK_FRAMEWORK": "DEBUG"}, levels{"OFF", "DEBUG", "OFF"}},
		"a level of all subsystems": {map[string]string{"TF_LOG": "INFO", "TF_LOG_SDK": "ERROR"},
			levels{"ERROR", "ERROR", "ERROR"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{"TF_LOG", "TF_LOG_PROVIDER", "TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK",
				"TF_LOG_SDK_PROTO"} {
				t.Setenv(name, c.env[name])
			}
			if err := loglevel.Set(); err != nil {
				t.Fatal(err)
			}
			got := levels{os.Getenv("TF_LOG_SDK"), os.Getenv("TF_LOG_SDK_FRAMEWORK"), os.Getenv("TF_LOG_SDK_PROTO")}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(levels{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
