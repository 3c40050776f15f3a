/** The capabilities, read from the block of JSON that the page carries. */

/** A row of the block; `columns` of the block names its cells. */
class Capability {
  constructor(cells) {
    this.cells = cells;
  }
}

/** What the cells of these columns mean: in the block, much is told by position. */
const UNPACKED = {
  categories: pairs,
  operations: pairs,
  image_counts: pairs,
  days: pairs,
  examples: (all) => all.map(exampleOf),
};

const run = readRun();

/** Position, number, position, number, and so on, two by two. */
function pairs(flat) {
  const all = [];
  for (let place = 0; place < flat.length; place += 2) all.push([flat[place], flat[place + 1]]);
  return all;
}

/** An example, with what stands elsewhere in the block put where it belongs. */
function exampleOf(cells) {
  const each = Object.fromEntries(run.example_columns.map((column, place) => [column, cells[place]]));
  const image = run.images[each.image];
  const file = run.files[each.file];
  return {
    ...each,
    image,
    file: file.startsWith('/') ? `${image}${file}` : file,
  };
}

/** The block, with an object for each row. The cells stay where they are: copying 5,000 rows takes its time. */
function readRun() {
  const { rows, ...block } = JSON.parse(document.getElementById('run-data').textContent);
  block.columns.forEach((column, place) => {
    const unpacked = UNPACKED[column] ?? ((cell) => cell);
    Object.defineProperty(Capability.prototype, column, { get() { return unpacked(this.cells[place], this); } });
  });
  const capabilities = rows.map((cells) => new Capability(cells));
  const byId = new Map(capabilities.map((each) => [each.id, each]));
  return { ...block, capabilities, byId };
}

const MILLISECONDS_A_DAY = 24 * 60 * 60 * 1000;

/** How many days after the page's first day a day is. */
function dayNumber(isoDay) {
  return (Date.parse(isoDay) - Date.parse(run.first_day)) / MILLISECONDS_A_DAY;
}
