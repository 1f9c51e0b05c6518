# All commands for developers and CI; `make` alone lists them. Nothing else installs anything on the system. Each target installs what
# it needs, which takes some milliseconds if nothing is missing, and works before and after every other.

PREFIX ?= /usr/local
PROGRAM := .build/release/pushcrypt

# The programs contain Swift's library; on a Mac it is part of the system. SwiftPM links it statically only into programs: for the C
# library, the compiler needs the option. So are the C++ and GCC libraries below it, if their archives exist: other systems have other
# versions, and loading them takes a fifth of the time to seal one message. Programs export nothing: Swift's runtime goes through their
# 6,900 symbols at each start otherwise. All other symbols are bound at start: with lazy binding, the dynamic linker would save vector
# registers on the stack, with any key still in them. Debian's valgrind ends at version 4 of the debug information.
ARCHIVES := .build/static
STATIC := $(if $(filter Darwin,$(shell uname)),,--static-swift-stdlib -Xswiftc -static-stdlib -Xlinker -z -Xlinker now -Xcc -gdwarf-4 \
    -Xlinker --no-export-dynamic -Xlinker '-L$(CURDIR)/$(ARCHIVES)' -Xswiftc -Xclang-linker -Xswiftc -static-libgcc) --disable-local-rpath
# Its name, its exported symbols, and that it stays loaded when a program closes it, because Swift's library cannot be unloaded.
SHARED := -Xlinker -soname -Xlinker libpushcrypt.so.0 -Xlinker --version-script=Sources/PushcryptC/pushcrypt.map \
    -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker nodelete
# `make build SODIUM=PREFIX` takes the libsodium below PREFIX instead of the system's. SwiftPM notices that only if it plans again.
SODIUM ?=
ifneq ($(SODIUM),)
export PKG_CONFIG_PATH := $(CURDIR)/.build/sodium-link/pkgconfig$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))
RPATH := $(if $(wildcard $(SODIUM)/lib/libsodium.a),,-Xlinker -rpath -Xlinker $(abspath $(SODIUM))/lib)
endif
REPLAN = $(shell test "$$(cat .build/sodium-prefix 2>/dev/null)" = '$(SODIUM)' || echo --disable-build-manifest-caching)
# Progress is for a terminal.
QUIET := $(if $(MAKE_TERMERR),,--quiet)
RELEASE = swift build -c release $(STATIC) $(RPATH) $(REPLAN) $(QUIET)

.PHONY: help setup build install uninstall demo test check nightly fuzz bench lint docs packages record clean archives tests

help: ## list the targets (the default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## install what a build needs (apt), and check the Swift version; PART="send test …" for more, see Tests/Checks/setup.sh
	@Tests/Checks/setup.sh $(if $(filter setup,$(MAKECMDGOALS)),$(PART))

build: setup archives ## build pushcrypt and pushcrypt-send, optimised: .build/release; SEND=0, LIBRARY=1 and SODIUM=PREFIX as below
	@test -z '$(SODIUM)' || Sources/Packaging/libsodium.sh '$(SODIUM)'
	$(RELEASE) --product pushcrypt
	@if [ '$(SEND)' = 0 ]; then :; elif Tests/Checks/setup.sh send; then set -x; $(RELEASE) --product pushcrypt-send; \
	    else echo 'make: pushcrypt-send is left out, because packages that it needs are missing; SEND=0 leaves it out silently' >&2; fi
	@mkdir -p .build && echo '$(SODIUM)' >.build/sodium-prefix
ifneq ($(LIBRARY),)
	@Tests/Checks/setup.sh library
	$(RELEASE) $(SHARED) --product PushcryptC
	@ln -f .build/release/libPushcryptC.so .build/release/libpushcrypt.so.0
	@ln -sf libpushcrypt.so.0 .build/release/libpushcrypt.so
endif

# `sudo make install` only copies what `make build` built: compiling as root would leave files in .build that their owner cannot
# replace.
install: $(if $(SUDO_UID),,build) ## install both programs, manual and completions below PREFIX (/usr/local); SEND=0 only pushcrypt; LIBRARY=1 also the C library
	@test -x '$(PROGRAM)' || { echo 'make: nothing is built yet: run `make build` first, without sudo' >&2; exit 1; }
	@Tests/Checks/setup.sh manual
	Sources/Packaging/install.sh install '$(PROGRAM)' '$(DESTDIR)$(PREFIX)'
	$(if $(filter 0,$(SEND)),,@test ! -x '$(PROGRAM)-send' || Sources/Packaging/install.sh send '$(PROGRAM)-send' '$(DESTDIR)$(PREFIX)')
ifneq ($(LIBRARY),)
	@test -f .build/release/libpushcrypt.so.0 || { echo 'make: run `make build LIBRARY=1` first, without sudo' >&2; exit 1; }
	Sources/Packaging/install.sh library .build/release/libpushcrypt.so.0 '$(DESTDIR)$(PREFIX)'
endif

uninstall: ## remove the installed files
	Sources/Packaging/install.sh remove '$(DESTDIR)$(PREFIX)'

demo: build ## seal, inspect, open, tamper, rotate, with real output; PART=send: a push that travels through a local APNs; PART=relay: a publisher's relay
ifeq ($(PART),send)
	@Tests/Checks/Send/demo.py $(PROGRAM)
else ifeq ($(PART),relay)
	@swift build $(QUIET) --product RelayPhone
	@Tests/Checks/Relay/demo.py $(PROGRAM)
else
	@$(PROGRAM) demo
endif

test: setup ## every test with the kit, transcripts and examples; FILTER=… those whose names match
	@Tests/Checks/setup.sh test
	@Tests/Checks/test.sh '$(FILTER)'

check: setup ## everything that a change must pass besides `make test`; PART="lint send" runs some: see Tests/Checks/parts.txt
	@Tests/Checks/run.sh check $(PART)

nightly: setup ## what takes hours, or real time; goes on where it stopped; PART="mutants kill-points" runs some
	@PUSHCRYPT_SECONDS=$(or $(SECONDS),600) Tests/Checks/run.sh nightly $(PART)

fuzz: setup ## each fuzz target for SECONDS (60), two at a time; PART=… names some; adds to Tests/Checks/Fuzz/ledger.tsv
	@Tests/Checks/Fuzz/run.sh fuzz $(or $(SECONDS),60) $(PART)

bench: build ## measure against the bare libsodium calls and against age; PART=send: `send` beside h2load
ifeq ($(PART),send)
	@Tests/Checks/setup.sh bench send
	@Tests/Checks/Bench/send.py $(PROGRAM)
else
	@Tests/Checks/setup.sh bench
	@Tests/Checks/Bench/bench.py $(STATIC)
endif

lint: setup ## the format, generated sources, the order of the folders, and that shared sources run on iOS 15
	@Tests/Checks/setup.sh send
	swift format lint --strict --parallel --recursive Package.swift Sources KeyStore Tests
	@Sources/Packaging/version.sh check
	@Sources/Languages/generate.py --check
	@Tests/Checks/Lint/layers.sh
	@Tests/Checks/Lint/sodium-layouts.sh
	@Tests/Checks/Lint/apple-floor.sh

docs: setup ## the documentation of the libraries and the commands, as pages: .build/docs
	@Tests/Checks/setup.sh manual
	@Tests/Checks/API/documentation.py pages .build/docs

packages: ## what a release uploads: Debian packages, archives, packages of other languages, checksums, bill of materials: dist
	@Tests/Checks/setup.sh interop dist
	@$(MAKE) --no-print-directory build LIBRARY=1
	@Sources/Packaging/dist.sh
	@Tests/Checks/Release/dist.sh

archives:
	@mkdir -p $(ARCHIVES)
	@archive=$$(clang -print-file-name=libstdc++.a 2>/dev/null); test ! -f "$$archive" || ln -sf "$$archive" $(ARCHIVES)

# What parts of checks need.
tests: setup
	@Tests/Checks/setup.sh test
	@set -ex; for product in pushcrypt pushcrypt-send pushcryptPackageTests; do swift build --product $$product $(QUIET); done

record: ## write again what is recorded or generated: API listing, vectors, sources of packages; PART=api|languages|vectors
	@Tests/Checks/record.sh $(PART)

clean: ## remove all build output
	rm -rf .build dist
