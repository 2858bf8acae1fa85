import unittest

from basket import total


class TotalTest(unittest.TestCase):
    def test_an_empty_basket_costs_nothing(self):
        self.assertEqual(total([]), 0)

    def test_prices_add_up(self):
        self.assertEqual(total([("tea", 350, 1), ("cup", 900, 1)]), 1250)

    def test_quantities_count(self):
        self.assertEqual(total([("tea", 350, 3)]), 1050)
