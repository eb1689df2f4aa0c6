# All build and test targets; README.md introduces the most important ones.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# Architectures by Debian's names: own_arch is this machine's, ARCH the target of package and image.
own_arch := $(if $(filter aarch64,$(shell uname -m)),arm64,amd64)
ARCH ?= arm64
sources := $(shell find server/src cluster/src -type f -not -path '*/bin/*' -not -path '*/obj/*') $(wildcard docs/*/*.md Directory.*.props global.json)
dashboard_sources := $(shell find server/dashboard -type f -not -path '*/node_modules/*' -not -path '*/dist/*')

export DOTNET_CLI_TELEMETRY_OPTOUT := 1
export DOTNET_NOLOGO := 1
.PHONY: build dashboard package release release-os e2e e2e-long image image-lock image-fixes image-test run cluster
.PHONY: chaos check test test-crash test-long simulate simulate-long bench lint clean

build: artifacts/rookery ## the executable, for this machine

dashboard: server/dashboard/dist/index.html.br ## the pages that a node serves

# Vite empties dist first and writes the compressed files last, so this file marks a complete build.
server/dashboard/dist/index.html.br: $(dashboard_sources)
	npm --prefix server/dashboard ci --no-audit --no-fund --loglevel=error
	npm --prefix server/dashboard run build

# The package and, for this machine's architecture, artifacts/rookery share this result. Publishing twice took 60 of the 93 s of a package in a test run.
artifacts/publish-%/rookery: server/publish $(sources) server/dashboard/dist/index.html.br
	server/publish $*

# The rename makes the file appear complete.
artifacts/rookery: artifacts/publish-$(own_arch)/rookery
	install -m 755 $< artifacts/rookery.new
	mv artifacts/rookery.new artifacts/rookery

package: artifacts/publish-$(ARCH)/rookery ## artifacts/rookery_VERSION_ARCH.deb for ARCH=arm64, or amd64
	image/package/build $(ARCH)

image: package ## artifacts/rookery-RELEASE-ARCH.img.zst, the card image, for ARCH=arm64, or amd64; needs root
	image/build --arch $(ARCH)

release: ## artifacts/release/VERSION, all files of a release; DRY_RUN=1 only lists them
	image/release $(if $(DRY_RUN),--dry-run)

release-os: ## images and bundles of the released version with renewed packages, after `make image-lock`; needs root
	image/release --os $(if $(DRY_RUN),--dry-run)

image-fixes: ## lists the locked packages for which Debian has security fixes; fails if there are any
	image/fixes

image-lock: ## updates the locked versions of the image's packages from Debian's mirrors
	image/lock-renew

image-test: ## boots the arm64 image in QEMU; run `make image` before
	python3 -m unittest discover --verbose --start-directory image/tests --pattern 'boot*.py'

define first_steps
Starting a node on http://127.0.0.1:8080 with its data under ./data; Ctrl+C stops it. In another terminal, make a database and store a document:

  curl -X PUT 'http://127.0.0.1:8080/admin/databases?name=first' -d '{"DatabaseName":"first"}'; curl -X PUT 'http://127.0.0.1:8080/databases/first/docs?id=hello' -d '{"to":"world"}'

endef
export first_steps

e2e: build ## tests the playbooks on three machines with the image's root, from nothing to a restored cluster; needs root
	server/tests/run e2e

e2e-long: build ## all steps of e2e, on the image's root and on plain Debian
	server/tests/run e2e-long

run: build ## one node on http://127.0.0.1:8080 with data under ./data
	@printf '%s\n' "$$first_steps"
	@exec artifacts/rookery serve --data ./data --listen http://127.0.0.1:8080

cluster: build ## three nodes on http://127.0.0.1:8081 to 8083 with data under ./data-cluster
	@exec cluster/local data-cluster

check: dashboard ## the check before a commit: build, analyzers, all fast tests, a few seeds of each simulation
	server/tests/run check

test: ## everything that CI runs; as root it installs missing packages
	server/tests/install
	$(MAKE) dashboard
	server/tests/run

test-crash: build ## only the tests of kills, full disks and faults
	server/tests/run crash

test-long: build ## 1,000 kills of a node, power cuts of a real ext4, thousands of seeds, every step of the playbooks
	server/tests/run long
	$(MAKE) simulate-long e2e-long

chaos: build ## three real nodes under faults and load for MINUTES=10, replayed by SEED=n; needs root
	MINUTES=$(or $(MINUTES),10) SEED=$(SEED) server/tests/run chaos

# The profiles simulate the consensus core with a simulated store; the profile `host` simulates the whole program.
simulate: ## clusters under faults: SEEDS=1000 of each profile, or FIRST=seed PROFILE=name to replay
ifneq ($(PROFILE),host)
	dotnet build cluster/tests/Rookery.Raft.Tests -c Release -v quiet --nologo
	SIMULATE_SEEDS=$(or $(SEEDS),1000) SIMULATE_FIRST=$(FIRST) dotnet test cluster/tests/Rookery.Raft.Tests/bin/Release/net10.0/Rookery.Raft.Tests.dll --nologo \
	  --logger "console;verbosity=detailed" --filter '$(if $(PROFILE),DisplayName~"$(PROFILE)",FullyQualifiedName~Nothing_acknowledged)'
endif
ifeq ($(filter-out host,$(PROFILE)),)
	dotnet build cluster/tests/Rookery.Cluster.Tests -c Release -v quiet --nologo
	SIMULATE_SEEDS=$(or $(SEEDS),1000) SIMULATE_FIRST=$(FIRST) dotnet test cluster/tests/Rookery.Cluster.Tests/bin/Release/net10.0/Rookery.Cluster.Tests.dll --nologo \
	  --logger "console;verbosity=detailed" --filter FullyQualifiedName~HostSeedTests.What_was
endif

simulate-long: ## for changes of consensus: SEEDS=1000 of each profile and of host, all planted bugs and scripts, coverage of rare branches
	dotnet build cluster/tests/Rookery.Raft.Tests -c Release -v quiet --nologo
	SIMULATE_FRESH=$(or $(SEEDS),1000) dotnet test cluster/tests/Rookery.Raft.Tests/bin/Release/net10.0/Rookery.Raft.Tests.dll --nologo \
	  --logger "console;verbosity=detailed" --filter FullyQualifiedName~CoverageTests
	dotnet test cluster/tests/Rookery.Raft.Tests/bin/Release/net10.0/Rookery.Raft.Tests.dll --nologo --logger "console;verbosity=normal" --filter 'FullyQualifiedName!~CoverageTests'
	$(MAKE) simulate PROFILE=host SEEDS=$(or $(SEEDS),1000)

bench: build ## measures the figures of benchmarks/README.md
	benchmarks/run

lint: ## warnings as errors, formatting, the glossary of STYLE.md, references, shell scripts, playbooks
	server/tests/run lint

clean: ## deletes everything that was built, except the key that signs updates
	[[ ! -d artifacts ]] || find artifacts -mindepth 1 -maxdepth 1 ! -name update-signing.key -exec rm -rf {} +
	rm -rf server/tests/client/node_modules server/dashboard/node_modules server/dashboard/dist
	find server cluster benchmarks -type d \( -name bin -o -name obj \) -prune -exec rm -rf {} +
