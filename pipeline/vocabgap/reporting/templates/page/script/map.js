/** The map: every circle leads to its panel, and the arrows go from one to the next that lies that way. */

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function startMap() {
  // Without this script only those can be followed whose evidence is on the page.
  for (const link of document.querySelectorAll('#map a[data-id]')) link.setAttribute('href', `#${link.dataset.id}`);
  const [first, ...others] = circles();
  if (!first) return;
  // One stop for the tabulator, and not sixty.
  for (const link of others) link.setAttribute('tabindex', '-1');
  // Not of the drawing itself: one that listens for the focus is a stop of its own.
  const map = first.closest('.wide');
  map.addEventListener('keydown', stepOnMap);
  map.addEventListener('focusin', ({ target }) => {
    for (const link of circles()) link.setAttribute('tabindex', link === target ? '0' : '-1');
  });
}

function circles() {
  return [...document.querySelectorAll('svg.map a')];
}

function stepOnMap(event) {
  const way = WAYS[event.key];
  const from = event.target.closest('a');
  if (!way || !from || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const [x, y] = middle(from);
  const ahead = circles().map((link) => {
    const [dx, dy] = [middle(link)[0] - x, middle(link)[1] - y];
    const along = dx * way[0] + dy * way[1];
    // What lies aside is farther than what lies ahead.
    return { link, along, far: along + 2 * Math.abs(dx * way[1] + dy * way[0]) };
  }).filter(({ along }) => along > 0);
  ahead.sort((one, other) => one.far - other.far);
  ahead[0]?.link.focus();
}

function middle(link) {
  const { e: x, f: y } = link.transform.baseVal[0].matrix;
  return [x, y];
}
