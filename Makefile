# Everything that people and machines type; `make` alone lists it. Only here is anything installed on the system.
# Each target that compiles runs `setup` first, which takes some milliseconds when nothing is missing.

PREFIX ?= /usr/local
PROGRAM := .build/release/pushcrypt

# The installed command stands alone; on a Mac the Swift library is part of the system. The C++ and GCC libraries below Swift's
# are linked in too, if there are archives of them: to load them took a fifth of what sealing one message takes. What is not linked
# in is looked up at the start: later, the linker would save vector registers on the stack, and a key that they still hold.
CXX_ARCHIVE := .build/static
# LLVM's linker leaves out what a program does not have to export (4,000 names, which Swift's driver exports otherwise), and packs
# 23,000 relocations into 5 KB, which the GNU C library reads since 2.36.
PACKED := $(shell printf '%s\n' 'glibc 2.36' "$$(getconf GNU_LIBC_VERSION 2>/dev/null)" | sort -VC && echo -Xlinker -z -Xlinker pack-relative-relocs)
LINKER := -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic $(PACKED)
# SwiftPM links the standard library into programs only: the compiler is told for libraries.
STATIC := $(if $(filter Darwin,$(shell uname)),,--static-swift-stdlib -Xswiftc -static-stdlib -Xlinker "-L$(CURDIR)/$(CXX_ARCHIVE)" \
    -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker -z -Xlinker now $(LINKER)) --disable-local-rpath
# What makes a shared library of it: its name, the symbols that it shows, and that it stays when a program lets it go, because
# Swift's library cannot be unloaded.
SHARED := -Xlinker -soname -Xlinker libpushcrypt.so.0 -Xlinker --version-script=Sources/PushcryptC/pushcrypt.map \
    -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker nodelete
# Progress is for a terminal.
QUIET := $(if $(MAKE_TERMERR),,--quiet)

.PHONY: help setup setup-test setup-bench setup-peers setup-scale setup-senders setup-interop setup-library setup-browser setup-packages build library archives man demo test test-readme test-clean test-long test-scale test-senders test-interop test-library test-browser docs fuzz fuzz-minimise bench bench-peers deb check-deb check-reproducible tarball lint install uninstall clean

help: ## list the targets (the default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

setup: ## install what is missing (apt) and check the Swift version
	@Tests/Checks/Scripts/setup.sh

build: setup archives ## build the command, optimised: .build/release/pushcrypt
	swift build -c release $(STATIC) --product pushcrypt $(QUIET)

library: setup-library archives ## build libpushcrypt.so for other languages, optimised: .build/release
	swift build -c release $(STATIC) $(SHARED) --product PushcryptC $(QUIET)
	@ln -f .build/release/libPushcryptC.so .build/release/libpushcrypt.so.0
	@ln -sf libpushcrypt.so.0 .build/release/libpushcrypt.so

archives:
	@mkdir -p $(CXX_ARCHIVE)
	@archive=$$(clang -print-file-name=libstdc++.a 2>/dev/null); test ! -f "$$archive" || ln -sf "$$archive" $(CXX_ARCHIVE)

man: build ## write the manual, pushcrypt.1 and a page a command, to .build/man/man1
	@mkdir -p .build/man/man1
	@.build/release/pushcrypt man --out .build/man/man1

demo: build ## seal, look, open, tamper, rotate: the whole story with real output
	@.build/release/pushcrypt demo

docs: setup ## write the documentation of the libraries as pages: .build/docs
	@Tests/Checks/Scripts/documentation.py pages .build/docs

test: lint setup-test ## lint, then run every test and say what was counted
	@Tests/Checks/Scripts/test.sh

test-readme: setup ## do what README.md tells a new user, in a fresh copy with an empty home
	@Tests/Checks/Scripts/first-minutes.sh

test-clean: ## the same in a clean Debian root; as root, with debootstrap
	@Tests/Checks/Scripts/clean-root.sh

test-long: setup ## what takes longer: faults, sanitizers, mutants, a million messages; goes on where it stopped
	@Tests/Checks/Long/run.sh

test-scale: build setup-scale ## 100,000 messages each through Kafka, a Redis stream and Spark, whose workers are killed
	@Tests/Checks/Pipelines/run.sh

test-senders: build setup-senders ## send through real APNs clients to a local endpoint, and open what arrives
	@Tests/Checks/Senders/run.sh

test-interop: build setup-interop ## ask receivers in Python, JavaScript, C and Java about the test kit, and about 100,000 random messages both ways
	@Tests/Checks/Interop/run.sh

test-library: build library ## call libpushcrypt.so from C and from Python: examples, refusals, threads, random bytes, the test kit
	@Tests/Checks/CLibrary/run.sh

test-browser: build setup-browser ## have Chromium lay out what `pushcrypt preview` draws, light and dark: boxes, lines, contrast
	@Tests/Checks/Scripts/preview-browser.sh

fuzz: setup ## each fuzz target for SECONDS (60), two at a time; TARGETS names some; adds to Tests/Checks/Fuzz/ledger.tsv
	@Tests/Checks/Fuzz/run.sh fuzz $(or $(SECONDS),60) $(TARGETS)

fuzz-minimise: setup ## put what fuzzing has found into the corpus, in as few files as reach as much
	@Tests/Checks/Fuzz/run.sh minimise $(TARGETS)

bench: build setup-bench ## measure against the bare libsodium calls and against age
	@Tests/Checks/Bench/run.sh $(STATIC)

bench-peers: build setup-peers ## measure what Web Push, sealed boxes and age cost beside it
	@Tests/Checks/Bench/peers.sh

setup-test setup-bench setup-peers setup-scale setup-senders setup-interop setup-library setup-browser setup-packages: setup-%: setup
	@Tests/Checks/Scripts/setup.sh $*

deb: build library setup-packages ## Debian packages, which lintian has looked at: .build/packages
	@Sources/Packaging/package.sh deb

check-deb: ## install the packages of `make deb` into a clean root, and run the demo there (as root)
	@Sources/Packaging/package.sh check

check-reproducible: setup-packages ## build the Debian packages of the last commit in two folders, and compare bytes
	@Tests/Checks/Scripts/reproducible.sh

tarball: build library ## the command, its pages and completions, and the library, for other systems: .build/packages
	@Sources/Packaging/package.sh tarball

lint: setup ## check the format, the order of the folders, and that shared sources run on iOS 15
	swift format lint --strict --parallel --recursive Package.swift Sources KeyStore Tests
	@Tests/Checks/Scripts/layers.sh
	@Tests/Checks/Scripts/apple-floor.sh

# `sudo make install` only copies what `make` built before: compiling as root would leave files in .build that their owner
# cannot replace.
install: $(if $(SUDO_UID),,build) ## install the stripped command, its manual and completions below PREFIX (/usr/local)
	@test -x "$(PROGRAM)" || { echo 'make: nothing is built yet: run `make build` first, without sudo' >&2; exit 1; }
	Sources/Packaging/install.sh install "$(PROGRAM)" "$(DESTDIR)$(PREFIX)"

uninstall: ## remove what was installed
	Sources/Packaging/install.sh remove "$(DESTDIR)$(PREFIX)"

clean: ## remove everything that was built
	rm -rf .build
