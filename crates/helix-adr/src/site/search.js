const field = document.getElementById("search");
const rows = document.querySelectorAll("#decisions tbody tr");
const nothing = document.getElementById("nothing");
field.hidden = false;
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  rows.forEach((row, number) => {
    row.hidden = !words.every((word) => texts[number].includes(word));
    found += row.hidden ? 0 : 1;
  });
  nothing.hidden = found > 0;
});
