# make demo    a real call between two processes on this machine
# make test    every test
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
	XDG_DATA_HOME=$$(mktemp -d) SIDETONE_PROGRAM=$(CURDIR)/.build/release/sidetone swift test

# Two queues meet in CallKit; the voice thread's rings in the engine. The reports come last.
sanitize: setup-test
	rm -f .build/race.*
	XDG_DATA_HOME=$$(mktemp -d) TSAN_OPTIONS=log_path=$(CURDIR)/.build/race \
	  swift test --sanitize thread --scratch-path .build/sanitize \
	  --filter 'CallKitTests|CallStoreTests|VoiceEngineTests' \
	  || { grep -h -A8 -E 'WARNING|Previous' .build/race.*; exit 1; }

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
