#!/bin/bash
# Builds an app outside of this package that depends on it, with the Swift code of README.md as it stands there, and
# each step of the tutorials as a program of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
app=.build/dependent
rm -rf "$app/Sources"
mkdir -p "$app/Sources/App"
steps=()
for step in Sources/*/*/*.docc/Resources/*.swift; do
  name=$(basename "$step" .swift)
  mkdir -p "$app/Sources/$name"
  cp "$step" "$app/Sources/$name/main.swift"
  steps+=("$name")
done
cat >"$app/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

let products: [Target.Dependency] = ["AVFAudio", "AVFoundation", "CallKit", "Intents", "PushKit", "SidetonePhone"].map {
  .product(name: \$0, package: "sidetone")
}
let package = Package(
  name: "App",
  dependencies: [.package(name: "sidetone", path: "$PWD")],
  targets: "App ${steps[*]}".split(separator: " ").map {
    .executableTarget(name: String(\$0), dependencies: products)
  }
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
