/// The store's file as release 0.9.0 wrote it.
///
/// It stays as it is, whatever later releases write: users have such files.
enum FirstRelease {
  /// The identity of a far side.
  static let fingerprint =
    "EE:42:76:C1:B3:93:2E:A6:0E:C5:80:E0:CC:FE:33:F5:"
    + "A4:2E:EF:29:AB:91:D4:65:50:C6:76:B4:B5:40:0A:EE"
  /// The device that was chosen last.
  static let microphone =
    #"{"identity":{"path":"/sys/devices/usb1/1-2","product":"046d:0a44","serial":""}"#
    + #","name":"hw:1,0"}"#

  /// Makes the file with a few rows in each table.
  static let sql = """
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    INSERT INTO grdb_migrations VALUES ('1'), ('2'), ('3');
    CREATE TABLE recent (
      id INTEGER PRIMARY KEY,
      call TEXT NOT NULL,
      app TEXT NOT NULL,
      handle_kind INTEGER NOT NULL,
      handle TEXT NOT NULL,
      name TEXT NOT NULL,
      is_outgoing INTEGER NOT NULL,
      has_video INTEGER NOT NULL,
      started REAL NOT NULL,
      connected REAL,
      ended REAL NOT NULL,
      result TEXT NOT NULL
    , can_be_called_back INTEGER NOT NULL DEFAULT 1);
    INSERT INTO recent VALUES (
      7, 'E4BEAE91-0FFD-429E-8282-9DBBF017D81C', 'Sidetone', 1, 'sip:alice@192.0.2.7',
      'sip:alice@192.0.2.7', 0, 0, 1795000000.25, 1795000003.5, 1795000063.75, 'talked', 1
    );
    INSERT INTO recent VALUES (
      8, '02F4C221-06D5-4FBB-9605-FD89B3EC9B8E', 'Sidetone', 1, 'sip:bob@192.0.2.8:5070',
      'Bob "Zoë" Müller', 1, 0, 1795000100.0, NULL, 1795000110.0, 'unanswered', 1
    );
    INSERT INTO recent VALUES (
      9, '859D85F4-9B1E-4DFF-BD08-23C0F9A7E734', 'MonkeyCall', 2, '+14085555555', 'Eve', 0, 1,
      1795000200.0, NULL, 1795000201.0, 'declinedElsewhere', 0
    );
    CREATE TABLE favourite (
      handle TEXT PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL
    );
    INSERT INTO favourite VALUES ('sip:Alice@192.0.2.7', 'alice@192.0.2.7', 'Alice');
    CREATE INDEX favourite_key ON favourite (key);
    CREATE TABLE blocked (handle TEXT PRIMARY KEY);
    INSERT INTO blocked VALUES ('14085555555'), ('eve@192.0.2.9');
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO setting VALUES ('dnd', 'on');
    INSERT INTO setting VALUES ('microphone', '\(microphone)');
    CREATE TABLE extension (
      id INTEGER PRIMARY KEY,
      identifier TEXT NOT NULL UNIQUE,
      is_enabled INTEGER NOT NULL DEFAULT 0,
      is_loaded INTEGER NOT NULL DEFAULT 0
    );
    INSERT INTO extension VALUES (1, 'monkey', 1, 1), (2, 'silent', 0, 0);
    CREATE TABLE blocking (
      number INTEGER NOT NULL, extension INTEGER NOT NULL,
      PRIMARY KEY (number, extension)
    ) WITHOUT ROWID;
    INSERT INTO blocking VALUES (18005555555, 1);
    CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    INSERT INTO label VALUES (1, 'Telemarketer');
    CREATE TABLE identification (
      number INTEGER NOT NULL, extension INTEGER NOT NULL, label INTEGER NOT NULL,
      PRIMARY KEY (number, extension, label)
    ) WITHOUT ROWID;
    INSERT INTO identification VALUES (18775555555, 1, 1);
    CREATE TABLE identity (
      fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', first_seen REAL NOT NULL
    );
    INSERT INTO identity VALUES ('\(fingerprint)', 'Alice', 1795000003.5);
    CREATE TABLE peer (
      address TEXT PRIMARY KEY, fingerprint TEXT, signalling TEXT, verified REAL,
      last_seen REAL NOT NULL
    );
    INSERT INTO peer VALUES (
      'alice@192.0.2.7', '\(fingerprint)', '\(fingerprint)', 1795000010.0, 1795000003.5
    );
    INSERT INTO peer VALUES ('alice@192.0.2.70', '\(fingerprint)', NULL, NULL, 1795000004.0);
    INSERT INTO peer VALUES ('carol@192.0.2.10', NULL, '', NULL, 1795000005.0);
    CREATE INDEX peer_fingerprint ON peer (fingerprint);
    """
}
