#!/bin/bash
# Builds an app outside of this package that depends on it, with the Swift code of README.md as it stands there.
set -euo pipefail
cd "$(dirname "$0")/.."
app=.build/dependent
mkdir -p "$app/Sources/App"
cat >"$app/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "App",
  dependencies: [.package(name: "sidetone", path: "$PWD")],
  targets: [
    .executableTarget(
      name: "App",
      dependencies: [.product(name: "SidetonePhone", package: "sidetone")]
    )
  ]
)
EOF
awk '/^```swift/ { isCode = 1; next } /^```/ { isCode = 0 } isCode' README.md >"$app/Sources/App/main.swift"
grep -q 'Phone(' "$app/Sources/App/main.swift"
swift build --package-path "$app"
# Nobody listens there, so the call ends at once, and so does the app.
sed -i 's/sip:bob@192.168.1.20/sip:bob@127.0.0.1:9/' "$app/Sources/App/main.swift"
swift build --package-path "$app"
XDG_DATA_HOME=$PWD/$app/data timeout 30 "$app/.build/debug/App" | tee "$app/output"
grep -q ended "$app/output"
