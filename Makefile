# make build          the program; make install puts it with all that belongs to it under PREFIX, /usr/local by default
# make deb            a Debian package, in .build/deb; make dist: the sources, in .build/dist
# make test-package   installs, uses, upgrades and purges the package in a clean Debian
# make test-debian13  every test, and the package, in Debian 13
# make test-dependency  builds and runs an app that depends on this package, and the tutorials' programs
# make documentation  the public modules' reference and tutorials, by DocC
# make demo           a real call between two processes on this machine
# make test           all that runs in virtual time, one real call of each kind, the command line
# make check          everything else: all other programs and kernels, sanitizer, fuzzer, lint, benchmarks, dependency, package
# make check-busy     the tests with programs again and again, most of them on a busy machine: RUNS=20
# make test-faults    all faults of sound cards and networks, on a real kernel in a virtual machine
# make test-peers     calls with other phones: baresip, Linphone, Janus, and five from PyPI
# make test-losses    calls of two programs over networks that lose datagrams from the first one on: LOSSY_CALLS on each, from LOSSY_SEED
# make lint           the formatter's rules
# make sanitize       the concurrent parts under ThreadSanitizer
# make fuzz           what comes from outside, by libFuzzer: FUZZ_SECONDS for each FUZZ_TARGET
# make bench          a short run of the benchmarks
# make bench-call     calls of several programs on several networks, between headsets on an exact clock
# make picture        the terminal of a call, for the README
# make results        all benchmarks at length, and the page of Benchmarks/results

SHELL := /bin/bash
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

LIBRARIES := libasound2-dev libopus-dev libspeexdsp-dev libre-dev libssl-dev libsqlite3-dev libdbus-1-dev libpcap-dev libsndfile1-dev pkg-config gettext
VOICES := espeak-ng sox
# What the tests of `make test` take: sound servers, a SIP server, the buses that services are on.
RIGS := libasound2-plugins jackd2 kamailio kamailio-tls-modules openssl util-linux gnome-keyring dbus tmux iproute2 procps python3
# What the others take.
PEERS := tshark libjack-jackd2-dev baresip-core linphone-cli rtpengine-daemon coturn sip-tester dnsmasq-base systemd libglib2.0-bin avahi-daemon avahi-utils

# Programs to compare with, what counts instructions, and what the scorer of speech is made with.
RIVALS := trx valgrind python3-venv python3-dev g++ pipewire-jack libwebrtc-audio-processing-dev
# People who speak several languages.
SPEECH := $(patsubst %,asterisk-core-sounds-%-g722,en fr it ru)
# What a desktop's sound goes through.
DESKTOP := pipewire pipewire-alsa pipewire-pulse wireplumber pulseaudio-utils dbus
# A machine with a real kernel, for sound cards that come and go.
KERNEL := qemu-system-x86 busybox-static cpio kmod xz-utils alsa-utils iproute2 nftables dash

# To make and to try the package.
PACKAGING := debhelper dpkg-dev lintian debootstrap
VERSION := $(shell sed -n '1s/.*(\(.*\)).*/\1/p' Packaging/debian/changelog)

BENCH := .build/release
BENCH_SECONDS ?= 60

.PHONY: build install uninstall deb dist test-package test-debian13 test-dependency documentation demo test check check-calls check-builds check-programs check-desktop check-kernel check-busy \
  test-faults test-losses test-peers sanitize fuzz lint bench bench-call picture results build-bench setup-build setup-package setup-demo setup-test setup-check setup-bench clean

# All is compiled once, the program, its tests and the benchmarks, so what is tested is what is installed. With another
# linker libre would not find the program's accept().
BUILD := swift build -c release -Xswiftc -enable-testing -Xswiftc -use-ld=lld
# Linked with Swift's own libraries inside, so that it runs where Swift is not installed.
PROGRAM := SIDETONE_STATIC=1 $(BUILD) --product

# The second one writes the manual pages.
build: setup-build
	$(PROGRAM) sidetone
	$(BUILD) --product generate-manual

PREFIX ?= /usr/local

# These two need what `make build` has made.
install:
	Scripts/stage.sh "$(DESTDIR)" "$(PREFIX)"

uninstall:
	Scripts/unstage.sh "$(DESTDIR)" "$(PREFIX)"

deb: build setup-package
	Scripts/deb.sh

dist:
	mkdir -p .build/dist
	git archive --prefix=sidetone-$(VERSION)/ --output=.build/dist/sidetone-$(VERSION).tar.gz HEAD

test-package: deb
	Scripts/test_install.sh
	$(SUDO) Scripts/test_package.sh

test-debian13: setup-package
	$(SUDO) Scripts/on_debian.sh trixie make test check-programs check-desktop check-kernel test-package

test-dependency: setup-build
	Scripts/test_dependency.sh
	Scripts/documentation.sh .build/dependent/.build

documentation: setup-build
	swift build
	Scripts/documentation.sh

demo: setup-demo
	$(PROGRAM) sidetone
	Scripts/demo.sh .build/release/sidetone

picture: setup-test
	$(PROGRAM) sidetone
	Scripts/picture.sh .build/release/sidetone Documentation/call.svg

# The tests' program goes by itself: with other arguments it would be compiled anew.
TESTS := .build/release/sidetonePackageTests.xctest --testing-library swift-testing
RECAP := SIDETONE_PROGRAM=$(CURDIR)/.build/release/sidetone Scripts/recap.sh
define BUILD_TESTS
	$(BUILD) --build-tests
	$(PROGRAM) sidetone
endef
# Those that start programs come last: they need the processors' time when they want it.
PROGRAMS := InteropTests|DesktopTests|KernelTests
FIRST := CallKindTests|InteropTests.CommandLineTests
test: setup-test
	$(BUILD_TESTS)
	$(RECAP) test-virtual $(TESTS) --skip '$(PROGRAMS)'
	$(RECAP) test-calls $(TESTS) --filter '$(FIRST)'

# Calls mostly wait, so what is compiled anew is compiled beside them; the benchmarks count on a machine of their own.
check: setup-bench setup-package
	$(BUILD_TESTS)
	$(MAKE) -j2 --output-sync=target check-calls check-builds
	$(MAKE) bench test-package

# Each kind by itself: virtual machines leave a sound server too little of two processors.
check-calls:
	for kind in check-programs check-desktop check-kernel; do MAKEFLAGS= make $$kind || exit 1; done

check-builds:
	for kind in lint sanitize fuzz test-dependency; do MAKEFLAGS= nice make $$kind || exit 1; done

check-programs check-desktop check-kernel: setup-check
	$(BUILD_TESTS)
	$(RECAP) $@ $(TESTS) --skip '$(FIRST)' --filter '$(KIND)'
check-programs: KIND := InteropTests
check-desktop: KIND := DesktopTests
check-kernel: KIND := KernelTests

RUNS ?= 20
check-busy: setup-check
	@Scripts/install.sh "$(SUDO)" stress-ng
	$(BUILD_TESTS)
	RECAP='$(RECAP)' TESTS="$(TESTS) --filter InteropTests" Scripts/check_busy.sh $(RUNS)

test-faults: setup-check
	$(BUILD_TESTS)
	KERNEL_SCENARIOS=all $(RECAP) $@ $(TESTS) --filter KernelTests

PHONES := .build/phones
test-peers: setup-check
	@Scripts/install.sh "$(SUDO)" python3-venv janus util-linux
	test -d $(PHONES) || python3 -m venv $(PHONES)
	$(PHONES)/bin/pip install --quiet pjsua2-python==2.15.1.post1 sipral==1.2.0 aiortc==1.16.0 'wrtc[aiortc]==0.1.0' sippy==2.5.0 websockets==17.4
	$(BUILD_TESTS)
	CI=true PEERS_PYTHON=$(PHONES)/bin/python LIMIT=900 $(RECAP) $@ $(TESTS) --filter 'PeerTests|BaresipTests|LinphoneTests'

LOSSY_CALLS ?= 40
test-losses: setup-check
	$(BUILD_TESTS)
	CI=true LOSSY_CALLS=$(LOSSY_CALLS) LIMIT=3600 $(RECAP) $@ $(TESTS) --filter LossyCallTests

# Two queues meet in CallKit; the voice thread's rings in the engine; two ends in a simulated call. The reports come last.
sanitize: setup-build
	SIDETONE_TESTS='CallKit CallStore EchoServer RealTime Simulation VoiceEngine' \
	  swift build --product sidetonePackageTests --sanitize thread --scratch-path .build/sanitize
	clang -O1 -shared -fPIC Scripts/tsan_mutex.c -o .build/sanitize/tsan_mutex.so
	rm -f .build/sanitize/race.*
	for tests in 'CallKitTests|CallStoreTests' 'RealTimeTests|VoiceEngineTests|EchoServerTests|twoThreadsChangeNothing'; do \
	  TSAN_OPTIONS=log_path=$(CURDIR)/.build/sanitize/race \
	  Scripts/recap.sh sanitize env LD_PRELOAD=$(CURDIR)/.build/sanitize/tsan_mutex.so \
	    .build/sanitize/debug/sidetonePackageTests.xctest --testing-library swift-testing \
	      --filter "$$tests" \
	    || { grep -h -A8 -E 'WARNING|Previous' .build/sanitize/race.*; exit 1; }; done

FUZZ_SECONDS ?= 10
FUZZ_TARGET ?=
# The modules that read what comes from outside.
FUZZ_MODULES ?= ALSAAudio AudioRouting CallKit CallSecurity CallStore Codecs CommandLine DesktopServices DigestAuthentication ICE \
  MediaCore NetworkAddress Playout PushKit RealTime RTP SidetonePhone Simulation SIPRules SIPSignalling SRTP UDPTransport VoiceStream
fuzz: setup-build
	SIDETONE_FUZZER="$(FUZZ_MODULES)" swift build -c release --product fuzz --scratch-path .build/fuzz \
	  --sanitize address -Xswiftc -enable-testing
	Scripts/fuzz.sh .build/fuzz/release/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGET)

lint:
	swift format lint --strict --recursive Sources Examples Tests Benchmarks Package.swift

bench: build-bench
	$(BENCH)/bench counters --output .build/bench
	$(BENCH)/bench setup --repeats 6 --output .build/bench
	$(BENCH)/bench call --seconds 15 --repeats 1 --networks direct --only "sidetone --frame 5" --output .build/bench
	$(BENCH)/bench scale --calls 0,20 --seconds 4 --output .build/bench
	$(BENCH)/bench cost --seconds 1 --repeats 1 --output .build/bench
	$(BENCH)/bench soak --hours 0.05 --calls 50 --output .build/bench
	$(BENCH)/bench playout --seconds 20 --seeds 101 --networks wifi --output .build/bench

bench-call: build-bench
	$(BENCH)/bench call --seconds $(BENCH_SECONDS)

# Everything at length, and the page that shows it; two hours or more, half an hour with BENCH_SECONDS=15 and one repeat.
results: build-bench
	$(BENCH)/bench call --seconds $(BENCH_SECONDS)
	$(BENCH)/bench setup
	$(BENCH)/bench cost
	$(BENCH)/bench counters
	$(BENCH)/bench scale
	$(BENCH)/bench playout
	-$(BENCH)/bench soak
	$(BENCH)/bench report

build-bench: setup-bench
	$(PROGRAM) sidetone
	for product in alsa-pass-through bench; do SIDETONE_BENCHMARKS=1 $(PROGRAM) $$product || exit 1; done

setup-build:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES)

setup-package:
	@Scripts/install.sh "$(SUDO)" $(PACKAGING)

setup-demo:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES) $(VOICES)

setup-test:
	@Scripts/install.sh "$(SUDO)" $(LIBRARIES) $(VOICES) $(RIGS) $(DESKTOP) $(KERNEL)

setup-check: setup-test
	@Scripts/install.sh "$(SUDO)" $(PEERS)

setup-bench: setup-check Benchmarks/.venv/made
	@Scripts/install.sh "$(SUDO)" $(RIVALS) $(SPEECH)

# Without it sentences are not scored, which the benchmarks say.
Benchmarks/.venv/made: Benchmarks/requirements.txt
	@Scripts/install.sh "$(SUDO)" $(RIVALS)
	python3 -m venv Benchmarks/.venv
	Benchmarks/.venv/bin/pip install -q -r $< && touch $@ || true

clean:
	rm -rf .build Benchmarks/.venv demo
