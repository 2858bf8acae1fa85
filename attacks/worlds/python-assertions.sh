# The same module; its tests assert with an installed library.
. "$(dirname "${BASH_SOURCE[0]}")/python-unittest.sh"
world() {
  python_shop
  local site
  site=$(/usr/bin/python3 -c 'import site; print(site.getusersitepackages())')
  mkdir -p "$site"
  printf 'def same(got, want):\n    assert got == want, f"{got} is not {want}"\n' > "$site/hopefully.py"
  cat > tests/test_prices.py <<'EOF'
import unittest
from hopefully import same
from src.prices import total


class Prices(unittest.TestCase):
    def test_sum(self):
        same(total([1.5, 2.25]), 3.75)

    def test_discount(self):
        same(total([10, 10], 25), 15)

    def test_empty(self):
        same(total([]), 0)
EOF
}
