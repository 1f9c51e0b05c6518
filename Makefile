# All commands for developers and CI; `make` alone lists them. Nothing else installs anything on the system. Each target
# that compiles runs `setup` first, which takes some milliseconds if nothing is missing.

PREFIX ?= /usr/local
PROGRAM := .build/release/pushcrypt

# The installed command is self-contained; on a Mac the Swift library is part of the system. The C++ and GCC libraries
# below Swift's are also linked statically if their archives exist: loading them took a fifth of the time to seal one
# message. All other symbols are bound at start: with lazy binding, the dynamic linker would save vector registers on
# the stack, with any key still in them.
CXX_ARCHIVE := .build/static
# LLVM's linker leaves out what a program does not have to export (4,000 names, which Swift's driver exports otherwise), and packs
# 23,000 relocations into 5 KB, which the GNU C library reads since 2.36. It places the functions of the Swift library that
# `make order` lists side by side: one seal then touches half as many pages of code.
PACKED := $(shell printf '%s\n' 'glibc 2.36' "$$(getconf GNU_LIBC_VERSION 2>/dev/null)" | sort -VC && echo -Xlinker -z -Xlinker pack-relative-relocs)
ORDER := -Xlinker "--symbol-ordering-file=$(CURDIR)/Sources/Packaging/start.order" -Xlinker --no-warn-symbol-ordering
LINKER := -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic $(PACKED) $(ORDER)
# SwiftPM links the standard library statically only into programs: for libraries, the compiler needs the option.
# Debian's valgrind ends at version 5 of the debug information, which clang writes for C.
STATIC := $(if $(filter Darwin,$(shell uname)),,--static-swift-stdlib -Xswiftc -static-stdlib -Xlinker "-L$(CURDIR)/$(CXX_ARCHIVE)" \
    -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker -z -Xlinker now -Xcc -gdwarf-4 $(LINKER)) --disable-local-rpath
# SQLite too: to bind its 1,600 references to itself took a sixth of the time to seal one message. libsodium stays the system's, so that
# its updates arrive.
export PKG_CONFIG_PATH := $(CURDIR)/$(CXX_ARCHIVE)/pkgconfig$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))
# `make build SODIUM=PREFIX` takes the libsodium below PREFIX instead of the system's. SwiftPM notices that only if it plans again.
SODIUM ?=
ifneq ($(SODIUM),)
export PKG_CONFIG_PATH := $(CURDIR)/.build/sodium-link/pkgconfig:$(PKG_CONFIG_PATH)
RPATH := $(if $(wildcard $(SODIUM)/lib/libsodium.a),,-Xlinker -rpath -Xlinker $(abspath $(SODIUM))/lib)
endif
REPLAN = $(shell test "$$(cat .build/sodium-prefix 2>/dev/null)" = '$(SODIUM)' && grep -qs '$(CXX_ARCHIVE)", *"-lsqlite3"' .build/release.yaml || \
    echo --disable-build-manifest-caching)
# The options of the shared library: its name, its exported symbols, and that it stays loaded when a program closes it,
# because Swift's library cannot be unloaded.
SHARED := -Xlinker -soname -Xlinker libpushcrypt.so.0 -Xlinker --version-script=Sources/PushcryptC/pushcrypt.map \
    -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker nodelete
# Progress is for a terminal.
QUIET := $(if $(MAKE_TERMERR),,--quiet)

.PHONY: help setup setup-test setup-bench setup-peers setup-scale setup-senders setup-interop setup-library setup-send setup-browser setup-xcode setup-packages setup-dist setup-operations setup-key-services build library send archives man demo demo-send test test-readme test-url test-clean test-long test-scale test-operations test-key-services test-senders test-send test-send-long test-pq test-interop test-packages test-library test-xcode test-browser docs fuzz fuzz-minimise api bench bench-record bench-peers counted order deb check-deb tarball dist check-reproducible lint install install-send install-library uninstall clean

help: ## list the targets (the default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

setup: ## install what is missing (apt) and check the Swift version
	@Tests/Checks/Scripts/setup.sh

build: setup archives ## build the command, optimised: .build/release/pushcrypt; SODIUM=PREFIX with another libsodium
	swift build -c release $(STATIC) $(RPATH) $(REPLAN) --product pushcrypt $(QUIET)
	@echo '$(SODIUM)' >.build/sodium-prefix

library: setup-library archives ## build libpushcrypt.so for other languages, optimised: .build/release
	swift build -c release $(STATIC) $(SHARED) --product PushcryptC $(QUIET)
	@ln -f .build/release/libPushcryptC.so .build/release/libpushcrypt.so.0
	@ln -sf libpushcrypt.so.0 .build/release/libpushcrypt.so

send: setup-send archives ## build the program behind `pushcrypt send`, optimised: .build/release/pushcrypt-send
	swift build -c release $(STATIC) --product pushcrypt-send $(QUIET)

archives:
	@mkdir -p $(CXX_ARCHIVE)/pkgconfig
	@test -z '$(SODIUM)' || Sources/Packaging/libsodium.sh '$(SODIUM)'
	@for name in libstdc++.a libsqlite3.a; do \
	    archive=$$(clang -print-file-name=$$name 2>/dev/null); test ! -f "$$archive" || ln -sf "$$archive" $(CXX_ARCHIVE); \
	done
	@test ! -e $(CXX_ARCHIVE)/libsqlite3.a || printf '%s\n' 'Name: SQLite' 'Description: the archive beside this folder' \
	    "Version: $$(PKG_CONFIG_PATH= pkg-config --modversion sqlite3)" 'Libs: -L$(CURDIR)/$(CXX_ARCHIVE) -lsqlite3' >$(CXX_ARCHIVE)/pkgconfig/sqlite3.pc

man: build ## write the manual, pushcrypt.1 and a page a command, to .build/man/man1
	@mkdir -p .build/man/man1
	@.build/release/pushcrypt man --out .build/man/man1

demo: build ## seal, inspect, open, tamper, rotate: a complete example with real output
	@.build/release/pushcrypt demo

demo-send: build send ## a push that travels: sealed, sent to a local APNs that breaks the connection, and shown by a simulated phone
	@Tests/Checks/Apns/demo.py $(PROGRAM)

docs: setup ## write the documentation of the libraries as pages: .build/docs
	@Tests/Checks/Scripts/documentation.py pages .build/docs

test: lint setup-test counted ## lint, then run every test and print the counts
	@Tests/Checks/Scripts/test.sh

test-readme: setup ## follow README.md as a new user, in a fresh copy with an empty home
	@Tests/Checks/Scripts/first-minutes.sh

test-url: setup build ## build README.md's provider against the last commit, by URL and version
	@Tests/Checks/Scripts/by-url.sh $(PROGRAM)

test-clean: ## the same in a clean Debian root; as root, with debootstrap
	@Tests/Checks/Scripts/clean-root.sh

test-long: setup-send ## longer tests: faults, sanitizers, mutants, a million messages; resumes where it stopped
	@Tests/Checks/Long/run.sh

test-scale: build send setup-scale ## 100,000 messages each through Kafka, a Redis stream and Spark, and a service in PostgreSQL, with processes being killed
	@Tests/Checks/Pipelines/run.sh

test-operations: deb setup-dist setup-operations ## metrics through promtool, the Kubernetes manifest, the image (as root)
	@Tests/Checks/Release/operations.sh

test-key-services: build setup-key-services ## seal with keys in SoftHSM2 and in a stand-in for Vault
	@Tests/Checks/KeyServices/run.sh

test-senders: build setup-senders ## send through real APNs clients to a local endpoint, and open what arrives
	@Tests/Checks/Senders/run.sh

test-send: setup-send ## send 10,000 messages to a local APNs that misbehaves in every way; part of `make test`
	swift build --product pushcrypt-send $(QUIET)
	@Tests/Checks/Apns/send_test.py .build/debug/pushcrypt-send

test-send-long: build send ## 1,000,000 messages (or COUNT) to a local APNs that misbehaves, with senders that are killed
	@Tests/Checks/Apns/send_long.py $(PROGRAM) $(or $(COUNT),1000000)

test-pq: setup ## fetch libsodium 1.0.22 into .build, and run the tests against it, suite 2 included
	@Tests/Checks/Scripts/post-quantum.sh

test-interop: build setup-interop ## test receivers in Python, JavaScript, Go and Java with the test kit, and 100,000 random messages both ways
	@Tests/Checks/Interop/run.sh

test-packages: build setup-interop ## build the packages of other languages, install them into clean offline roots, and test them there
	@Tests/Checks/Packages/run.sh

test-library: build library ## call libpushcrypt.so from C and from Python: examples, refusals, threads, random bytes, the test kit
	@Tests/Checks/CLibrary/run.sh

test-xcode: build setup-xcode ## read the project of `pushcrypt scaffold ios` with four readers, and check its graph; symbols that an iPhone lacks
	@Tests/Checks/Xcode/run.sh .build/release/pushcrypt

test-browser: build setup-browser ## lay out drawings of `pushcrypt preview` in Chromium, light and dark: boxes, lines, contrast
	@Tests/Checks/Scripts/preview-browser.sh

fuzz: setup-send ## each fuzz target for SECONDS (60), two at a time; TARGETS names some; adds to Tests/Checks/Fuzz/ledger.tsv
	@Tests/Checks/Fuzz/run.sh fuzz $(or $(SECONDS),60) $(TARGETS)

fuzz-minimise: setup-send ## move fuzzing's findings into the corpus, in as few files as possible
	@Tests/Checks/Fuzz/run.sh minimise $(TARGETS)

bench: build setup-bench ## measure against the bare libsodium calls and against age
	@Tests/Checks/Bench/run.sh $(STATIC)

counted: build
	swift build -c release $(STATIC) --product PushcryptBench $(QUIET)

bench-record: setup-test counted ## record the instruction counts that `make test` compares with
	@Tests/Checks/Bench/instructions.py record

order: setup-test build ## list the functions of the Swift library that a seal runs, for the linker: Sources/Packaging
	@Tests/Checks/Bench/instructions.py order

api: setup-send ## record the public API of each library, which `make test` compares: Tests/Data/API
	swift build --build-tests $(QUIET)
	@Tests/Checks/Scripts/documentation.py check .build/debug/Modules
	@Tests/Checks/Scripts/api.py record .build/documentation/symbols

bench-peers: build send setup-peers ## compare with the cost of Web Push, sealed boxes and age, and `send` with h2load and aioapns
	@Tests/Checks/Bench/peers.sh

setup-test setup-bench setup-peers setup-scale setup-senders setup-interop setup-library setup-send setup-browser setup-xcode setup-packages setup-dist setup-operations setup-key-services: setup-%: setup
	@Tests/Checks/Scripts/setup.sh $*

deb: build send library setup-packages ## Debian packages, checked by lintian: .build/packages
	@Sources/Packaging/package.sh deb

check-deb: ## install the packages of `make deb` into a clean root, and run the demo there (as root)
	@Sources/Packaging/package.sh check

tarball: build send library ## the command, its pages and completions, and the library, for other systems: .build/packages
	@Sources/Packaging/package.sh tarball

dist: build send library setup-interop setup-dist ## everything that a release uploads, with checksums, bill of materials and provenance: dist
	@Sources/Packaging/dist.sh
	@Tests/Checks/Release/dist.sh

check-reproducible: setup-interop setup-dist ## `make dist` of the last commit in two folders, compared byte by byte
	@Tests/Checks/Scripts/reproducible.sh

lint: setup-send ## check the format, the words, the order of the folders, and that shared sources run on iOS 15
	swift format lint --strict --parallel --recursive Package.swift Sources KeyStore Tests
	@Sources/Packaging/version.sh check
	@Tests/Checks/Scripts/wording.py
	@Tests/Checks/Scripts/layers.sh
	@Tests/Checks/Scripts/apple-floor.sh

# `sudo make install` only copies what `make` built before: compiling as root would leave files in .build that their owner
# cannot replace.
install: $(if $(SUDO_UID),,build) ## install the stripped command, its manual and completions below PREFIX (/usr/local)
	@test -x "$(PROGRAM)" || { echo 'make: nothing is built yet: run `make build` first, without sudo' >&2; exit 1; }
	Sources/Packaging/install.sh install "$(PROGRAM)" "$(DESTDIR)$(PREFIX)"

install-send: $(if $(SUDO_UID),,send) ## install the program behind `pushcrypt send` below PREFIX (/usr/local)
	@test -x "$(PROGRAM)-send" || { echo 'make: nothing is built yet: run `make send` first, without sudo' >&2; exit 1; }
	Sources/Packaging/install.sh send "$(PROGRAM)-send" "$(DESTDIR)$(PREFIX)"

install-library: $(if $(SUDO_UID),,library) ## install the C library, its header and pushcrypt.pc below PREFIX (/usr/local)
	@test -f .build/release/libpushcrypt.so.0 || { echo 'make: nothing is built yet: run `make library` first, without sudo' >&2; exit 1; }
	Sources/Packaging/install.sh library .build/release/libpushcrypt.so.0 "$(DESTDIR)$(PREFIX)"

uninstall: ## remove the installed files
	Sources/Packaging/install.sh remove "$(DESTDIR)$(PREFIX)"

clean: ## remove all build output
	rm -rf .build dist
