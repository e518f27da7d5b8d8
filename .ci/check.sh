#!/usr/bin/env bash
# The gate, stage by stage; it stops at the first red one, whose output it
# shows. What was compared with the official emulators it says always.
#
#   .ci/check.sh          everything
#   .ci/check.sh quick    what fits a commit hook
#   .ci/check.sh interop  the official clients against what is served here
#   .ci/check.sh fuzz     the fuzzing alone, FUZZTIME (5000x) a target
set -uo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
lint() { go tool -modfile=.ci/tools.mod golangci-lint "$@"; }

stage() { # name, command…
	local name=$1 began=$SECONDS code
	shift
	out=$("$@" 2>&1)
	code=$?
	if [ $code -ne 0 ]; then
		printf '%s\nFAILED   %-8s %3ds\n' "$out" "$name" $((SECONDS - began))
		exit 1
	fi
	printf 'ok       %-8s %3ds\n' "$name" $((SECONDS - began))
	return 0
}

# counted is a stage that also shows what it counted.
counted() {
	stage "$@"
	grep -vE '^ *(=== |--- |ok|PASS)|^ *$' <<<"$out" | tail -n 40 | sed 's/^ *[a-z_]*_test.go:[0-9]*: //; s/^ */         /'
}

# Fuzzing compiles an instrumented build of a package, so a target costs more
# than the seconds it runs: a short run of each, one after the other. It is
# counted in executions: with a time the go command now and then fails a sound
# target with "context deadline exceeded".
fuzz() {
	local file target
	for file in $(grep -rlE '^func Fuzz' --include='*_test.go' .); do
		for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$file" | cut -d' ' -f2); do
			go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-5000x}" -fuzzminimizetime 1x || return 1
		done
	done
}

formatted() {
	local changed
	changed=$(lint fmt --diff ./... 2>&1) || { echo "$changed"; return 1; }
	[ -z "$changed" ] || { echo "$changed"; echo "run: make fmt"; return 1; }
}

# The clients of others are a module of their own, with dependencies that ours
# has not. The JavaScript client comes from npm, once; where that cannot be had,
# its tests say that they were skipped.
interop() {
	if command -v npm >/dev/null && [ ! -d internal/interop/js/node_modules ]; then
		(cd internal/interop/js && npm ci --no-audit --no-fund) || echo "npm ci in internal/interop/js did not succeed"
	fi
	cd internal/interop || return 1
	go mod tidy -diff && go vet ./... && go tool -modfile=../../.ci/tools.mod golangci-lint run ./... && go test -count=1 -v ./...
}

if [ "${1:-}" = interop ]; then
	interop
	exit
fi
if [ "${1:-}" = fuzz ]; then
	fuzz
	exit
fi
stage tidy go mod tidy -diff
stage format formatted
stage vet go vet ./...
stage build go build ./...
if [ "${1:-}" = quick ]; then
	stage test go test -short ./...
	exit 0
fi
stage lint lint run ./...
# The race detector needs a C compiler, which a machine with Go alone lacks.
race=-race
if ! command -v "$(go env CC)" >/dev/null; then
	race=
	echo "         no C compiler: the tests run without the race detector"
fi
TRUECOST_OFFICIAL_REPORT=$(mktemp)
export TRUECOST_OFFICIAL_REPORT
# Chaos and mutants have stages of their own: they take every core there is. So
# have the families of agents and their planted errors: figures, and nothing that
# happens at the same time.
mapfile -t packages < <(go list ./... | grep -vE '/(internal/(chaos|chaos/tasks|mutants|planted)|functions/(cost|final|location|risk|scope|timeline))$')
stage test go test ${race:+"$race"} -shuffle=on -count=1 -timeout=12m "${packages[@]}"
sort -u "$TRUECOST_OFFICIAL_REPORT" | sed 's/^/         /'
rm -f "$TRUECOST_OFFICIAL_REPORT"
# The sweeps over whole estimates: one goroutine each, so not for the race detector.
stage accuracy make -s accuracy
stage figures go test -shuffle=on -count=1 ./internal/planted ./functions/{cost,final,location,risk,scope,timeline}
counted interop interop
counted model go run ./internal/model/cmd
counted simulate go test ./internal/simulation -run '^TestSeeds$' -count=1 -seeds 2000 -v
counted chaos go test ./internal/chaos -count=1 -v
counted tasks go test ./internal/chaos/tasks -count=1 -v
counted mutants go test ./internal/mutants -count=1 -timeout 12m -v
stage fuzz fuzz
echo "the gate is green, ${SECONDS} s"
