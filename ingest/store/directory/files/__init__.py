"""What lies on the disk: paths, the listing, revisions, locks and leases, and their faults."""
