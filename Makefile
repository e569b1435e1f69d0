# make demo    a real call between two processes on this machine
# make test    every test
# make lint    the formatter's rules
# make bench   latency over ALSA on an exact clock (JACK's dummy driver)

SHELL := /bin/bash
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

LIBRARIES := libasound2-dev libopus-dev libspeexdsp-dev libre-dev pkg-config
VOICES := espeak-ng sox
RIGS := libasound2-plugins jackd2 libjack-jackd2-dev baresip-core iproute2 procps python3

.PHONY: build demo test lint bench setup-build setup-demo setup-test clean

build: setup-build
	swift build -c release --product sidetone

demo: setup-demo
	swift build -c release --product sidetone
	Scripts/demo.sh .build/release/sidetone

test: setup-test
	swift build -c release --product sidetone
	SIDETONE_PROGRAM=$(CURDIR)/.build/release/sidetone swift test

lint:
	swift format lint --strict --recursive Sources Tests Benchmarks Package.swift

bench: setup-test
	swift build -c release --product sidetone
	swift build --package-path Benchmarks -c release
	Benchmarks/.build/release/voice-allocations
	Benchmarks/latency.sh .build/release/sidetone

setup-build:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES)

setup-demo:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES) $(VOICES)

setup-test:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES) $(VOICES) $(RIGS)

clean:
	rm -rf .build Benchmarks/.build demo
