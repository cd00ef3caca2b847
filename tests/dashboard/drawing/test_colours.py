"""The colours of parts can be distinguished by everyone, on a light and on a dark page."""

from itertools import combinations
from statistics import median

import numpy as np
import pytest

from dashboard.drawing import colours
from ingest import server

PAPERS = ("#FFFFFF", "#171614")  # the backgrounds of the light and the dark theme
PAGES = {"light": False, "dark": True}
LEAST_CONTRAST = {"light": 1.4, "dark": 2}
# Machado, Oliveira and Fernandes 2009, severity 1: linear RGB as seen with a colour deficiency.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]],
    "deuteranopia": [[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritanopia": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)


def lab(colour, sight):
    """Return the CIE L*a*b* coordinates of `#RRGGBB`."""
    seen = np.array(list(bytes.fromhex(colour[1:]))) / 255
    linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    x, y, z = (
        np.cbrt(value) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in XYZ @ np.clip(np.array(SIGHTS[sight]) @ linear, 0, 1) / WHITE
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, other):
    """Return the contrast ratio of the WCAG, from 1 to 21."""
    dark, light = sorted(((lab(colour, "usual")[0] + 16) / 116) ** 3 for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def distance(one, other, sight):
    return float(np.linalg.norm(lab(one, sight) - lab(other, sight)))


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("page", PAGES)
def test_parts_can_be_distinguished(page, sight):
    parts = [part for part in server.parts() if part.is_idle is not None]
    near = {
        (one.name, other.name): round(d, 1)
        for one, other in combinations(parts, 2)
        # Work is deep and idle time is pale, so these may be closer to each other.
        if (d := distance(*(colours.of(part.name, PAGES[page]) for part in (one, other)), sight))
        < (15 if one.is_idle == other.is_idle else 10)
    }
    assert not near


@pytest.mark.parametrize("page", PAGES)
def test_idle_time_is_paler_than_work(page):
    def depth(part):
        paper = PAPERS[PAGES[page]]
        return distance(colours.of(part.name, PAGES[page]), paper, "usual")

    parts = [part for part in server.parts() if part.is_idle is not None]
    idle = median(depth(part) for part in parts if part.is_idle)
    # An overlap is not work: it is subtracted from the sum.
    work = [part for part in parts if not part.is_idle and part.name != "overlap"]
    assert idle < min(map(depth, work))


@pytest.mark.parametrize("page", PAGES)
def test_every_part_stands_out_from_the_page(page):
    paper = PAPERS[PAGES[page]]
    found = {
        part.name: round(contrast(colours.of(part.name, PAGES[page]), paper), 2)
        for part in server.parts()
    }
    assert min(found.values()) >= LEAST_CONTRAST[page], found
