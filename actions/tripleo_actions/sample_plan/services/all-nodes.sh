#!/bin/sh
# Runs on all simulated nodes.
set -eu
echo "time servers: $ntp_servers"
