systemctl --user daemon-reload
systemctl --user enable --now answering
journalctl --user --unit answering --follow
