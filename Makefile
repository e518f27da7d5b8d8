# TrueCost. `make help` lists what there is to do.
SHELL := bash
.DEFAULT_GOAL := help
export GOFLAGS := -buildvcs=false

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: demo
demo: bin/truecost ## one real estimate from start to end, on a local system of its own
	@bin/truecost estimate testdata/kitchen.json

.PHONY: up
up: bin/emulator bin/truecost ## the local system, until you stop it; FLAGS="-port-offset 100" moves its ports
	@bin/emulator $(FLAGS)

.PHONY: build bin/truecost bin/emulator bin/functions
build: bin/truecost bin/emulator bin/functions ## bin/truecost, bin/emulator, bin/functions
bin/truecost bin/functions: # always: the go command knows what is new
	@go build -o $@ ./cmd/$(@F)
bin/emulator:
	@go build -o $@ ./emulator

.PHONY: test check
test: check ## the whole gate, the same that CI runs
check:
	@.ci/check.sh

.PHONY: quick
quick: ## the part of the gate that fits a commit hook
	@.ci/check.sh quick

.PHONY: chaos
chaos: ## three worlds of 200 runs each: kills, doubled messages, zombies; FLAGS="-runs 20 -seed 7"
	@for mode in "" -double -stop; do go run ./internal/chaos $$mode $(FLAGS) || exit 1; done

.PHONY: chaos-tasks
chaos-tasks: ## tasks of agents for a minute each, killed and suspended all the time; FLAGS="-time 10s -seed 7"
	@for mode in "" -stop; do go run ./internal/chaos/tasks $$mode $(FLAGS) || exit 1; done

.PHONY: fmt
fmt: ## format every Go file
	@go tool -modfile=.ci/tools.mod golangci-lint fmt ./...

.PHONY: lint
lint: ## lint every package
	@go tool -modfile=.ci/tools.mod golangci-lint run ./...

.PHONY: golden
golden: ## rewrite the recorded answers; read the diff before you commit it
	@go test ./shared/engine -rewrite >/dev/null && go test $$(grep -rlE 'flag.Bool\("update"' --include='*_test.go' . | xargs -n1 dirname | sort -u) -update >/dev/null; git diff --stat

.PHONY: reports
reports: ## print the kitchen's reports of docs/reports again; look at them before you commit
	@go test ./shared/report -run 'TestDocs$$' -update >/dev/null && git diff --stat docs/reports

.PHONY: fuzz
fuzz: ## fuzz every decoder for FUZZTIME (5000x) each; a time as 30s works too
	@.ci/check.sh fuzz

.PHONY: interop
interop: ## the official Go and JavaScript clients against the agents
	@.ci/check.sh interop

.PHONY: accuracy
accuracy: ## every project type at its default drivers beside its national check price, all within 2 %; then the sweeps
	@go run ./internal/accuracy/cmd
	@set -o pipefail; go test ./internal/accuracy -count=1 -v -full | grep -v '^=== '
	@set -o pipefail; go test ./shared/estimate/locality -count=1 -v -run EveryPrefix | grep -v '^=== '

.PHONY: coverage
coverage: ## synthetic jobs with known truths: the published P10 to P90 must hold 75 to 85 percent; FLAGS="-seed 7"
	@go run ./internal/coverage/cmd $(FLAGS)

.PHONY: bench
bench: build ## the benchmarks, as a table with ratios
	@go run ./internal/bench

.PHONY: model
model: ## every state of a tiny world round the engine, a million and more; BOUND=nightly goes further
	@go run ./internal/model/cmd -bound $(or $(BOUND),full)

.PHONY: simulate
simulate: ## the real runner in worlds made of one seed: SEEDS (2000) of them from FIRST (0) on; SEED=N replays one
	@set -o pipefail; go test ./internal/simulation -count=1 -timeout 60m -v \
		$(if $(SEED),-run 'TestSeed$$' -seed $(SEED),-run '^TestSeeds$$' -seeds $(or $(SEEDS),2000) -first $(or $(FIRST),0)) | grep -v '^=== '

.PHONY: mutants
mutants: ## break each guard in turn; the tests must notice every time
	@go test ./internal/mutants -count=1 -timeout 30m -v | grep -v '^=== '

.PHONY: bench-engine
bench-engine: ## the engine beside a handler that does the least, as a table of ratios
	@go run ./internal/bench/engine $(FLAGS)

.PHONY: clean
clean: ## remove what was built
	@rm -rf bin
