import Glibc

/// Watches for sound cards that are plugged in or out, or become accessible (`inotify` on their
/// device files).
///
/// **Thread safety:** one thread waits on `descriptor` and acknowledges.
package final class CardWatch: Sendable {
  /// The descriptor to poll for reading.
  package let descriptor: CInt
  private let folder: String

  /// Watches the device files under `folder`; nil if the system does not permit it.
  package init?(folder: String = "/dev") {
    descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    self.folder = folder
    guard watch(folder, for: UInt32(IN_CREATE)) else { return nil }
    watchCards()
  }

  deinit {
    close(descriptor)
  }

  /// Discards the events received so far.
  package func acknowledge() {
    unsafe withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { events in
      guard let address = events.baseAddress else { return }
      while unsafe read(descriptor, address, events.count) > 0 {}
    }
    watchCards()
  }

  // Without any card there is no such folder; watching it twice is watching it once.
  private func watchCards() {
    _ = watch("\(folder)/snd", for: UInt32(IN_CREATE | IN_DELETE | IN_ATTRIB))
  }

  private func watch(_ path: String, for events: UInt32) -> Bool {
    unsafe inotify_add_watch(descriptor, path, events) >= 0
  }
}
