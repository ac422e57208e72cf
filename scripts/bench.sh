#!/usr/bin/env bash
# Measures the provider's costs at fleet size and prints a Markdown table. Figures that are compared come from the same
# run. The table is also in bin/bench.md; BENCHMARKS.md has one with its machine.
#
# RUNS: number of measurements per figure (default 3). With BENCH, a regular expression, it runs those Go benchmarks
# instead (COUNT times each, in the packages PKG) and writes the results to bin/bench.txt, for `bin/benchstat`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p bin

if [ -n "${BENCH:-}" ]; then
  # shellcheck disable=SC2086 # PKG may name several packages
  go test -run '^$' -bench "$BENCH" -benchmem -count "${COUNT:-1}" -timeout 60m ${PKG:-./...} | tee bin/bench.txt
  exit
fi

# A development build renders in every plan, so this is another version.
go build -trimpath -ldflags '-X main.version=bench' -o bin/bench/terraform-provider-kalypso .
{
  echo "Commit $(git describe --always --dirty 2>/dev/null || echo unknown)."
  echo
  scripts/terraform.sh go run ./internal/testing/bench -provider bin/bench/terraform-provider-kalypso \
    -runs "${RUNS:-3}" | tee bin/fleets.md
  echo
  CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags '-s -w -X main.version=bench' -o bin/bench/stripped .
  echo "The size of a released program, linux/amd64 and stripped: $(wc -c <bin/bench/stripped) bytes."
  echo
  echo "Scheduling and rendering from nothing on one core; large-1k is large-10k with every tenth cluster type. The bounds"
  echo "are 60,000/s for large-100k, 15,000/s if each assignment has a value of its own, and an exponent of 1.05:"
  go test -run '^$' -bench '^BenchmarkBuild$' -benchtime 5x -cpu 1 ./internal/kalypso/engine |
    awk '/^BenchmarkBuild.*op/ { sub("^BenchmarkBuild/", "", $1); gsub("_", " ", $1); took[$1] = $3
      printf "- %s: %.0f assignments/s, %.2f s\n", $1, $5, $3 / 1e9 }
      END { printf "- growth from 1,000 to 100,000 assignments: exponent %.2f\n",
        log(took["large-100k"] / took["large-1k"]) / log(100) }'
  echo
  echo "What this takes longer, as a share of its CPU time, to read and compare the objects in all folders of large-10k,"
  echo "and to find what five requirements of every assignment of large-100k need. The bound is 0.15:"
  go test -run '^$' -bench '^BenchmarkFeature$/^(objects|requires)$' -benchtime 20x -cpu 1 ./internal/kalypso/engine |
    awk '/^BenchmarkFeature.*op/ { sub("^BenchmarkFeature/", "", $1); printf "- %s: %.2f\n", $1, $7 }'
  echo
  echo "What it takes longer on all cores to find invalid files in all folders of large-100k. The bound is 0.5 s, as for a"
  echo "plan with nothing to do: people notice no less in a plan of a second or more:"
  go test -run '^$' -bench '^BenchmarkFeature$/^invalid$' -benchtime 10x ./internal/kalypso/engine |
    awk '/^BenchmarkFeature.*op/ { printf "- invalid: %.2f s\n", $5 / 1e3 }'
  echo
  echo "Placing 20 deployment targets on all and on half of 5,000 cluster types on one core, with a number, balance, and"
  echo "two spreads, of which one has 5,000 values. The bound is 5 s:"
  go test -run '^$' -bench '^BenchmarkSpread$' -benchtime 3x -cpu 1 ./internal/kalypso/schedule |
    awk '/^BenchmarkSpread.*op/ { sub("^BenchmarkSpread/", "", $1); printf "- %s: %.2f s\n", $1, $3 / 1e9 }'
  echo
  echo "Scheduling 100,000 assignments on one core: without a number of cluster types, with a number on all policies, and"
  echo "with the decisions of the last run too. The bound is 1.5 times the first:"
  go test -run '^$' -bench '^BenchmarkPlacement$' -cpu 1 ./internal/kalypso/schedule |
    awk '/^BenchmarkPlacement.*op/ { sub("^BenchmarkPlacement/", "", $1); if (!first) first = $3
      printf "- %s: %.0f ms, %.2f of the first\n", $1, $3 / 1e6, $3 / first }'
  echo
  echo "Looking for secrets in the config values of large-10k, and of the same with ten URLs of its own for every"
  echo "assignment. The bound is 5% of schedule + render:"
  go test -run '^$' -bench '^BenchmarkFindClearSecrets$' -benchtime 3x ./internal/kalypso/delivery |
    awk '/^BenchmarkFindClearSecrets.*op/ { sub("^BenchmarkFindClearSecrets/", "", $1); sub("-[0-9]+$", "", $1)
      printf "- %s: %.0f ms, %.1f%%\n", $1, $3 / 1e6, $5 }'
  echo
  echo "Reading, from a server on loopback:"
  go test -count=1 -v -run 'TestWorkloadsFetches|TestObserveLargeFleet|TestRequests' \
    ./internal/kalypso/git/source ./internal/kalypso/deployment/observe ./internal/kalypso/promotion/promotionlookup |
    sed -n 's/^.*_test.go:[0-9]*: /- /p'
  echo
  echo "Judging a fleet: 100,000 clusters with 3 configurations each, from Azure by pages, and from reports; and clusters"
  echo "with nested objects. The bounds for a fleet are 20 s and 1 GiB:"
  go test -run '^$' -bench '^Benchmark(Fleet|Nested)$' -benchtime 1x \
    ./internal/kalypso/deployment ./internal/kalypso/deployment/azure ./internal/kalypso/deployment/kubernetes |
    awk '$1 == "pkg:" { sub(".*/", "", $2); package = $2 }
      /^Benchmark.*op/ { sub("^Benchmark", "", $1); sub("-[0-9]+$", "", $1)
        printf "- %s, %s: %.1f s, %.1f s of CPU, %d MiB\n", package, $1, $3 / 1e9, $5, $7 }'
  echo
  echo "Recording 10,000 clusters with 100 deployment targets each in PostgreSQL: all of it (bound 5 min), 10,000"
  echo "changes (30 s), and the same without the state (1 min). CPU is that of the provider and the server. The bound"
  echo "for memory is 600 MiB:"
  go test -run '^$' -bench '^BenchmarkRecord$' -benchtime 1x ./internal/kalypso/history |
    awk '/^BenchmarkRecord.*op/ { sub("^BenchmarkRecord/", "", $1); sub("-[0-9]+$", "", $1)
      printf "- %s: %.1f s, %.1f s of CPU, %d MiB\n", $1, $3 / 1e9, $5, $7 }'
  echo
  echo "Comparing two branches of 100,000 assignments whose files all differ by their namespaces, from a server on"
  echo "loopback. The bounds are the CPU time of the first apply of large-100k in this run, and 300 MiB:"
  go test -run '^$' -bench '^BenchmarkComparison$' -benchtime 1x ./internal/kalypso/comparison/comparisonlookup |
    awk -F '|' 'FNR == NR { if ($2 ~ /the first `terraform apply` of `large-100k`/) apply = $4 + 0; next }
      /^BenchmarkComparison.*op/ { split($0, f, " ")
        printf "- %.1f s, %.1f s of CPU, %.2f of the first apply, %d MiB\n", f[3] / 1e9, f[5], f[5] / apply, f[7] }' \
      bin/fleets.md -
  echo
  echo "Publishing 10,000 assignments as 200 OCI artifacts to docker-registry on loopback: all of them, then again"
  echo "without an upload, then one changed folder. The bounds are 20 s and 300 MiB:"
  go test -run '^$' -bench '^BenchmarkPublish$' -benchtime 1x ./internal/kalypso/artifacts |
    awk '/^BenchmarkPublish.*op/ { sub("^BenchmarkPublish/", "", $1); sub("-[0-9]+$", "", $1)
      printf "- %s: %.1f s, %.1f s of CPU, %d MiB\n", $1, $3 / 1e9, $5, $7 }'
} | tee bin/bench.md
