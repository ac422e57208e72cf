package conventions_test

import (
	"log"
	"os"
	"testing"
)

// TestMain runs the tests in the root folder of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}
