"""The ``openstack overcloud …`` commands and the drawing of progress."""
