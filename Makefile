# make demo    a real call between two processes on this machine
# make test    every test; those that start programs by themselves
# make lint    the formatter's rules
# make bench   latency and activation over ALSA on an exact clock (JACK's dummy driver), allocations of
#              the voice thread, a call directory of two million entries
# make sanitize  the concurrent parts under ThreadSanitizer

SHELL := /bin/bash
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

LIBRARIES := libasound2-dev libopus-dev libspeexdsp-dev libre-dev libsqlite3-dev libdbus-1-dev pkg-config
VOICES := espeak-ng sox
RIGS := libasound2-plugins jackd2 libjack-jackd2-dev baresip-core dbus iproute2 procps python3

.PHONY: build demo test sanitize lint bench setup-build setup-demo setup-test clean

build: setup-build
	swift build -c release --product sidetone

demo: setup-demo
	swift build -c release --product sidetone
	Scripts/demo.sh .build/release/sidetone

test: setup-test
	for product in sidetone MonkeyCall MonkeyCallDirectory; do \
	  swift build -c release --product $$product || exit 1; done
	swift build --build-tests
	for tests in --skip --filter; do \
	  XDG_DATA_HOME=$$(mktemp -d) SIDETONE_PROGRAM=$(CURDIR)/.build/release/sidetone \
	    swift test --skip-build $$tests InteropTests || exit 1; done

# Two queues meet in CallKit; the voice thread's rings in the engine. The reports come last.
sanitize: setup-test
	swift build --build-tests --sanitize thread --scratch-path .build/sanitize
	clang -O1 -shared -fPIC Scripts/tsan_mutex.c -o .build/sanitize/tsan_mutex.so
	rm -f .build/sanitize/race.*
	for tests in 'CallKitTests|CallStoreTests' VoiceEngineTests; do \
	  XDG_DATA_HOME=$$(mktemp -d) TSAN_OPTIONS=log_path=$(CURDIR)/.build/sanitize/race \
	  LD_PRELOAD=$(CURDIR)/.build/sanitize/tsan_mutex.so \
	    .build/sanitize/debug/sidetonePackageTests.xctest --testing-library swift-testing \
	      --filter "$$tests" \
	    || { grep -h -A8 -E 'WARNING|Previous' .build/sanitize/race.*; exit 1; }; done

lint:
	swift format lint --strict --recursive Sources Tests Benchmarks Package.swift

bench: setup-test
	swift build -c release --product sidetone
	swift build --package-path Benchmarks -c release
	Benchmarks/.build/release/voice-allocations
	Benchmarks/directory.sh
	Benchmarks/activation.sh
	Benchmarks/latency.sh .build/release/sidetone

setup-build:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES)

setup-demo:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES) $(VOICES)

setup-test:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES) $(VOICES) $(RIGS)

clean:
	rm -rf .build Benchmarks/.build demo
