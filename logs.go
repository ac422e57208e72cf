package main

import (
	"os"
	"slices"
	"strings"
)

// levelLogs has the libraries that the provider is built with log what Terraform shows, and no more.
//
// Left alone they log everything and Terraform throws it away. That is not only a waste: for each value in a resource's
// collections the framework looks for its logger in a context that has grown by one a value, so that planning and
// refreshing cost quadratic time. At its level it does not look. Their documented variables set the levels; where one is set
// already, it stays.
func levelLogs() error {
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

// shownLevel is the level from which on Terraform shows what a provider logs, decided as Terraform does.
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
