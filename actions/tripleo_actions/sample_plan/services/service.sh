#!/bin/sh
# Configures one service of a simulated node.
set -eu
echo "settings: $settings"
