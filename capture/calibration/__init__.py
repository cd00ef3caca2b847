"""`capture calibrate`: measures the speeds that the devices of this machine reach."""
