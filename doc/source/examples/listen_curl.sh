#!/bin/sh
# Print the events of one execution as they come: listen_curl.sh EXECUTION_ID
# The token goes through a file descriptor, so that no process list shows it.
set -eu
url=$(openstack endpoint list --service tripleo-worker --interface public -f value -c URL)
token=$(openstack token issue -f value -c id)
printf 'header = "X-Auth-Token: %s"\n' "$token" |
    curl --silent --no-buffer --config - "$url/v1/events/stream?since=earliest&execution=$1"
