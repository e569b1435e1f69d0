import CLibre
import Glibc

/// Checks that libre itself calls the functions that replace its own.
///
/// The limits in SECURITY.md rest on that. A libre that was linked with `-Bsymbolic-functions`, as
/// some distributions do, calls itself directly, and a linker may leave this program's functions
/// out of what others see.
enum LibreProof {
  /// Names of the functions of libre's whose replacements an agent needs to start; the other
  /// replacements are optional.
  static let replaced = [
    "sip_msg_decode", "tcp_accept", "tcp_sock_listen", "udp_listen", "tmr_jiffies",
    "sip_request_loops", "stun_reply", "re_fprintf", "uri_decode",
    "sip_auth_alloc", "sip_auth_authenticate", "sip_auth_encode", "sip_auth_reset",
  ]

  /// Replaced functions whose replacements libre would not call; empty if all is well.
  static let missing = replaced.filter { name in
    // Looked for as the dynamic linker does, the first one of the process counts.
    let first = unsafe dlsym(nil, name)
    let own = unsafe ownFunction(name)
    return unsafe !re_calls_by_name(name) || first == nil || own == nil || first == own
  }

  // Libre's function of a name.
  @unsafe
  private static func ownFunction(_ name: String) -> UnsafeMutableRawPointer? {
    let libraries = ["libre.so.0", "libre.so.1"].lazy
    let found = unsafe libraries.compactMap { unsafe dlopen($0, RTLD_NOW | RTLD_NOLOAD) }.first
    guard let library = unsafe found else { return nil }
    defer { unsafe dlclose(library) }
    return unsafe dlsym(library, name)
  }

  /// Throws if libre would not call a replacement: then nothing may listen.
  static func check() throws(SIPError) {
    guard !missing.isEmpty else { return }
    throw .unusableLibrary(
      "this libre cannot be guarded against what strangers send: it calls its own "
        + missing.joined(separator: ", ")
        + ". It was linked with -Bsymbolic-functions; use one that is not, as Debian's"
    )
  }
}
