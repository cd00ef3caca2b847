"""Page Kernels in Chromium."""

import re

from playwright.sync_api import expect

from tests.dashboard.browser import cell, wait_for_query, wait_until_sent


def test_a_tick_and_the_link_to_it_show_the_same_kernel(tab, address, run_of):
    tab.goto(f"{address}/kernels?run={run_of('h100_owlv2')}&step=all")
    cell(tab, "cunn_SoftMaxForward").click()
    wait_for_query(tab, "name")
    heading = tab.get_by_role("heading", name=re.compile("SoftMaxForward"))
    expect(heading).to_be_visible()
    wait_until_sent(tab)
    tab.goto(tab.url)
    expect(heading).to_be_visible()
