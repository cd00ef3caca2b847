"""What lies on the disk: paths, the listing, revisions, manifests, faults, locks and leases."""
