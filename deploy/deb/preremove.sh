#!/bin/sh
# Stops the service when the package is removed, and leaves it alone on an upgrade.
set -e
if [ -d /run/systemd/system ] && [ "$1" = remove ]; then
  systemctl disable --now ragctx.service
fi
