import CRig
package import Foundation

/// Watches a folder for files that are made or written to (inotify(7)).
package final class FolderWatch {
  private let descriptor: Int32

  /// Begins to watch; changes from now on wake the next `wait`.
  package init(_ folder: URL) throws {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    let mask = UInt32(IN_CREATE | IN_MODIFY | IN_MOVED_TO)
    guard descriptor >= 0, unsafe inotify_add_watch(descriptor, folder.path, mask) >= 0 else {
      throw RigError("inotify(7): \(unsafe String(cString: strerror(errno)))")
    }
  }

  deinit {
    close(descriptor)
  }

  /// Waits until a file has changed since the last call, or `other` can be read; false at `end`.
  package func wait(or other: Int32? = nil, until end: Date) -> Bool {
    let descriptors = [descriptor] + (other.map { [$0] } ?? [])
    let ready = LoopbackSocket.ready(descriptors, within: end.timeIntervalSinceNow)
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    return !ready.isEmpty
  }
}
