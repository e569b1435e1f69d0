swift build -c release --static-swift-stdlib
install -D .build/release/Answering ~/.local/bin/answering
install -D -m 644 answering.service ~/.config/systemd/user/answering.service
espeak-ng -w ~/greeting.wav "This call is recorded. Please leave a message."
