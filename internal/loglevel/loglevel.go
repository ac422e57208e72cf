// Package loglevel sets the log level of the libraries in the provider.
package loglevel

import (
	"os"
	"slices"
	"strings"
)

// Set sets the log level of the libraries in the provider to the level that Terraform shows.
//
// Otherwise they log everything, and Terraform discards it. This also costs quadratic time: for each value in a
// resource's collections, the framework looks up its logger in a context that grows by one entry per value. With the
// level set, it skips the lookup. The libraries document the variables for their levels; variables that are already
// set stay.
func Set() error {
	level := shownLevel()
	if level == "TRACE" {
		return nil
	}
	if set := os.Getenv("TF_LOG_SDK"); set != "" {
		level = set
	}
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO"} {
		if os.Getenv(name) != "" {
			continue
		}
		if err := os.Setenv(name, level); err != nil {
			return err
		}
	}
	return nil
}

// shownLevel returns the lowest level of provider logs that Terraform shows, by Terraform's rules.
func shownLevel() string {
	level := strings.ToUpper(os.Getenv("TF_LOG_PROVIDER"))
	if level == "" {
		level = strings.ToUpper(os.Getenv("TF_LOG"))
	}
	switch {
	case level == "":
		return "OFF"
	case slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR", "OFF"}, level):
		return level
	}
	return "TRACE"
}
