#!/bin/sh
# Configures a simulated node.
set -eu
echo "host name: $hostname"
