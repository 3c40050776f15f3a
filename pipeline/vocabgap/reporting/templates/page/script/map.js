/** The map: a circle opens its panel; arrow keys move to the next circle in their direction. */

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function startMap() {
  const [first, ...others] = circles();
  if (!first) return;
  // One stop for the Tab key instead of sixty.
  for (const link of others) link.setAttribute('tabindex', '-1');
  // Not on the drawing itself: an element that listens for focus is also a stop.
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
    // Circles to the side count as farther than circles ahead.
    return { link, along, far: along + 2 * Math.abs(dx * way[1] + dy * way[0]) };
  }).filter(({ along }) => along > 0);
  ahead.sort((one, other) => one.far - other.far);
  ahead[0]?.link.focus();
}

function middle(link) {
  const { e: x, f: y } = link.transform.baseVal[0].matrix;
  return [x, y];
}
