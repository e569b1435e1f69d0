import Glibc

/// The role of this process's streams, for sound servers.
package enum StreamRole {
  /// Environment variables from which the ALSA plugins of PipeWire and PulseAudio take properties
  /// of their streams, and their values.
  private static let properties = [
    ("PIPEWIRE_ALSA", "{ media.role = Communication }"), ("PULSE_PROP", "media.role=phone"),
  ]

  /// Marks this process's streams as calls: a desktop may then lower or pause other sound by its
  /// own rules, and keeps their volume apart.
  ///
  /// Sets environment variables, since the servers' plugins read the role from nowhere else; those
  /// that the user has set stay. To be called first in a program, before there are other threads,
  /// which might be reading the environment.
  package static func announceCalls() {
    for (name, value) in properties { unsafe setenv(name, value, 0) }
  }
}
