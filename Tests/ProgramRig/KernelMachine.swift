package import Foundation

/// A virtual machine with Debian's kernel, and so with real drivers, network emulation included.
///
/// It is emulated in software, needs no privileges and boots in a few seconds. Without a wire to a
/// second machine its time is virtual: it counts instructions. It runs programs of the host with
/// their libraries, and shares a folder with the host.
package struct KernelMachine {
  private let work: URL
  private let initialisation: URL

  /// Programs that the guest's scripts use, with the Debian packages that contain them.
  private static let tools = [
    "/usr/bin/dash": "dash", "/usr/sbin/ip": "iproute2", "/usr/sbin/tc": "iproute2",
    "/usr/bin/amixer": "alsa-utils", "/usr/bin/aplay": "alsa-utils",
    "/usr/bin/chrt": "util-linux",
  ]
  private static let modules = [
    "snd-aloop", "snd-dummy", "virtio_pci", "virtio_net", "9p", "9pnet_virtio", "sch_netem", "veth",
    "crc32c_generic", "nf_tables", "nft_chain_nat", "nft_masq", "nft_nat", "nft_ct",
  ]

  /// Packages that must be installed to make a machine, separated by spaces; nil if all are there.
  package static var missing: String? {
    let needed = [
      "/usr/bin/qemu-system-x86_64": "qemu-system-x86", "/usr/bin/busybox": "busybox-static",
    ]
    .merging(["/usr/bin/cpio": "cpio", "/usr/sbin/depmod": "kmod"]) { own, _ in own }
    .merging(tools) { own, _ in own }
    let absent = needed.filter { !FileManager.default.isExecutableFile(atPath: $0.key) }
    return absent.isEmpty ? nil : Set(absent.values).sorted().joined(separator: " ")
  }

  /// Makes the machine's disk in `work`, with `programs` in its `/usr/bin`; the kernel is fetched
  /// the first time.
  ///
  /// `initialisation` is the first program that it runs.
  package init(in work: URL, programs: [URL], initialisation: URL) throws {
    self.work = work
    self.initialisation = initialisation
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    try fetchKernel()
    try fillRoot(with: programs)
  }

  private var kernelFolder: URL { work.appendingPathComponent("kernel") }
  private var root: URL { work.appendingPathComponent("root") }
  private var disk: URL { work.appendingPathComponent("disk.cpio") }

  private func version() throws -> String {
    let folder = kernelFolder.appendingPathComponent("lib/modules").path
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    guard let version = versions.first else { throw RigError("\(folder) has no kernel") }
    return version
  }

  private func fetchKernel() throws {
    guard (try? version()) == nil else { return }
    let script = """
      cd "$1"
      package=$(apt-cache depends linux-image-amd64 |
        sed -n 's/.*Depends: \\(linux-image-6[^ ]*\\)/\\1/p' | head -1)
      apt-get download -qq "$package"
      dpkg -x "$package"*.deb kernel && rm "$package"*.deb
      # From Debian 13 on they lie in /usr, and are compressed, which busybox cannot read.
      [ -e kernel/lib ] || ln -s usr/lib kernel/lib
      find kernel/lib/ -name '*.ko.xz' -exec xz -d {} +
      depmod -b kernel "$(ls kernel/lib/modules)"
      """
    try run("bash", ["-ec", script, "bash", work.path])
  }

  private func fillRoot(with programs: [URL]) throws {
    let script = """
      root=$1 kernel=$2 version=$3
      rm -rf "$root" && mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,lib/modules,dev,proc,sys,etc}
      shift 3
      for program in "$@"; do
        case $program in
          /usr/*) place=$root$program ;;
          *) place=$root/usr/bin/${program##*/} ;;
        esac
        install -D "$program" "$place"
        ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
          [ -e "$root$library" ] || install -D "$library" "$root$library"
        done
      done
      cp /usr/bin/busybox "$root/bin/busybox"
      for applet in $(busybox --list); do
        [ -n "$(ls "$root"/{,usr/}{,s}bin/"$applet" 2> /dev/null)" ] && continue
        ln -s /bin/busybox "$root/bin/$applet"
      done
      mkdir -p "$root/usr/share" && cp -r /usr/share/alsa "$root/usr/share/"
      for module in \(Self.modules.joined(separator: " ")); do
        modprobe -d "$kernel" -S "$version" --show-depends "$module" |
          sed -n 's/^insmod \\([^ ]*\\).*/\\1/p'
      done | sort -u | while read -r file; do
        install -D "$file" "$root/${file#"$kernel"/}"
      done
      depmod -b "$root" "$version"
      """
    let all = Self.tools.keys.sorted() + programs.map(\.path)
    try run("bash", ["-ec", script, "bash", root.path, kernelFolder.path, version()] + all)
    let first = root.appendingPathComponent("init")
    try FileManager.default.copyItem(at: initialisation, to: first)
    try run(
      "bash",
      [
        "-ec", "cd \"$1\" && find . | cpio -o -H newc --quiet > \"$2\"", "bash", root.path,
        disk.path,
      ]
    )
  }

  /// One end of a wire between two machines.
  package enum WireEnd {
    /// The end that listens, at a port of this machine.
    case first(port: Int)
    /// The end that connects to a port of this machine.
    case second(port: Int)

    fileprivate var arguments: [String] {
      let (socket, address) =
        switch self {
        case .first(let port): ("listen=127.0.0.1:\(port)", "52:54:00:00:00:01")
        case .second(let port): ("connect=127.0.0.1:\(port)", "52:54:00:00:00:02")
        }
      return KernelMachine.among + [
        "-netdev", "socket,id=wire,\(socket)", "-device",
        "virtio-net-pci,netdev=wire,mac=\(address)",
      ]
    }
  }

  // A machine alone counts its time in instructions, a nanosecond each, and leaves out what it
  // would sleep: whatever becomes of this machine meanwhile, it never stands still. Two that talk
  // live in the time that both share.
  private static let alone = [
    "-nic", "none", "-accel", "tcg,thread=single", "-smp", "1", "-icount", "shift=0,sleep=off",
  ]
  private static let among = ["-accel", "tcg,thread=multi", "-smp", "2"]

  /// Boots with `share` at `/mnt`, and waits until the machine has turned itself off.
  ///
  /// Throws once it has taken `seconds` of processor time, or ten times as long by the clock. A
  /// machine that hangs takes all the processor time it gets, and one that is slow because the host
  /// is busy is waited for.
  package func boot(sharing share: URL, processorSeconds seconds: Double) throws {
    let machine = try start(sharing: share)
    defer { machine.stop() }
    let end = Date(timeIntervalSinceNow: 10 * seconds)
    while machine.waitForExit(seconds: 1) == nil {
      guard machine.processorSeconds < seconds, Date() < end else {
        let words = machine.output.suffix(500)
        throw RigError("a machine did not end within \(seconds) s of processor time: \(words)")
      }
    }
  }

  /// Waits until the machines have turned themselves off, `seconds` at most for each; otherwise
  /// stops all of them and throws.
  package static func wait(for machines: [RunningProgram], seconds: Double) throws {
    defer { for machine in machines { machine.stop() } }
    for machine in machines where machine.waitForExit(seconds: seconds) == nil {
      throw RigError("a machine did not end within \(seconds) s")
    }
  }

  /// Boots with `share` at `/mnt`, at one end of a wire if one is named.
  package func start(sharing share: URL, at wire: WireEnd? = nil) throws -> RunningProgram {
    let kernel = kernelFolder.appendingPathComponent("boot/vmlinuz-\(try version())")
    return try RunningProgram(
      Invocation(
        "nice",
        [
          "-n", "-15", "qemu-system-x86_64", "-cpu", "qemu64", "-m", "2048",
          "-kernel", kernel.path, "-initrd", disk.path,
          "-append", "console=ttyS0 quiet panic=-1 mitigations=off", "-nographic", "-no-reboot",
          "-fsdev", "local,id=f,path=\(share.path),security_model=none",
          "-device", "virtio-9p-pci,fsdev=f,mount_tag=host",
        ] + (wire?.arguments ?? Self.alone)
      ),
      environment: [:],
      log: share.appendingPathComponent("console.log")
    )
  }
}
