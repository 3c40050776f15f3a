"""Tests of the page in a browser, which all of them share."""
