"""The parts that pages share: pickers, metrics, timelines, flame graphs, links and notices."""
