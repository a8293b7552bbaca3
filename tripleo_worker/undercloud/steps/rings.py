"""Makes the rings of Swift: one device, one replica."""

from __future__ import annotations

from swift.common.ring import RingBuilder

from tripleo_worker.undercloud.files import private_folder
from tripleo_worker.undercloud.steps.context import from_arguments

#: Two to this power partitions: more bring nothing on one device.
_PART_POWER = 6
_DEVICE = "disk"


def main() -> None:
    """Write the ring files of accounts, containers and objects where Swift looks for them."""
    context = from_arguments()
    private_folder(context.layout.data / "swift" / _DEVICE)
    for kind in ("account", "container", "object"):
        builder = RingBuilder(_PART_POWER, replicas=1, min_part_hours=1)
        builder.add_dev(
            {
                "id": 0,
                "region": 1,
                "zone": 1,
                "weight": 1.0,
                "ip": "127.0.0.1",
                "port": context.port[f"swift-{kind}"],
                "replication_ip": "127.0.0.1",
                "replication_port": context.port[f"swift-{kind}"],
                "device": _DEVICE,
                "meta": "",
            }
        )
        builder.rebalance()
        builder.get_ring().save(str(context.layout.etc / "swift" / f"{kind}.ring.gz"))


if __name__ == "__main__":
    main()
