/** The capabilities, read from the block of JSON that the page carries. */

/** A row of the block; `columns` of the block names its cells. */
class Capability {
  constructor(cells) {
    this.cells = cells;
  }
}

const run = readRun();

/** The block, with an object for each row. The cells stay where they are: copying 5,000 rows takes its time. */
function readRun() {
  const { rows, ...block } = JSON.parse(document.getElementById('run-data').textContent);
  block.columns.forEach((column, place) => {
    Object.defineProperty(Capability.prototype, column, { get() { return this.cells[place]; } });
  });
  const capabilities = rows.map((cells) => new Capability(cells));
  const byId = new Map(capabilities.map((each) => [each.id, each]));
  return { ...block, capabilities, byId };
}

/** What a column of numbers is at most, for full bars. */
function most(column) {
  return run.capabilities.reduce((highest, each) => Math.max(highest, each[column]), 0);
}

const MILLISECONDS_A_DAY = 24 * 60 * 60 * 1000;

/** How many days after the page's first day a day is. */
function dayNumber(isoDay) {
  return (Date.parse(isoDay) - Date.parse(run.first_day)) / MILLISECONDS_A_DAY;
}
