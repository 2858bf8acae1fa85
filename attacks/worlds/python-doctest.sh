# tools: pytest
# The module is tested by the examples of the readme.
: "${GATE:=python3 -m pytest -q --doctest-glob=README.md}"
. "$(dirname "${BASH_SOURCE[0]}")/python-unittest.sh"
world() {
  python_shop
  rm -r tests
  printf '# Shop\n\nTotals:\n\n    >>> from src.prices import total\n    >>> total([1.5, 2.25])\n    3.75\n    >>> total([10, 10], 25)\n    15.0\n' > README.md
}
