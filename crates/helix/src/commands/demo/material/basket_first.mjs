// Total price of a basket, in cents.
export function total(items) {
  return items.reduce((sum, [, price, _quantity]) => sum + price, 0);
}
