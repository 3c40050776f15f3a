/** The map of the needs: a circle leads to its need, and arrow keys to the circle of the next rank. */

const WAYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
const [ACROSS, DOWN] = [1000, 640]; // the drawing
const THEMES = 8; // categories with their own colour

function drawMap(spots) {
  const themes = themesIn(spots);
  const circles = circlesOf(spots, themes);
  const links = circles.map(({ link }) => link);
  // One stop for the Tab key instead of sixty.
  const stopAt = (stop) => { for (const link of links) link.setAttribute('tabindex', link === stop ? '0' : '-1'); };
  stopAt(links[0]);
  const drawing = draw('svg', { class: 'map', viewBox: `0 0 ${ACROSS} ${DOWN}`, role: 'group', 'aria-labelledby': 'map-title' }, ...links);
  // Not on the drawing itself: an element that listens for focus is also a stop.
  const map = make('div', { class: 'wide' }, drawing);
  map.addEventListener('keydown', (event) => {
    const next = links[links.indexOf(event.target) + WAYS[event.key]];
    if (!next || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    next.focus();
  });
  map.addEventListener('focusin', ({ target }) => stopAt(target));
  part('app').append(make('section', { id: 'map', 'aria-labelledby': 'map-title' },
    make('h2', { id: 'map-title' }, 'Map'),
    make('p', {}, `The first ${whole(circles.length)} needs. A larger circle has more mentions; neighbours have similar wordings or the same category.`),
    legendOf(themes, links), map));
  placeLabels(circles);
}

/** The categories, the most frequent first, with their numbers; those without their own colour are one. */
function themesIn(spots) {
  const sizes = new Map();
  for (const [, , , category] of spots) sizes.set(category, (sizes.get(category) ?? 0) + 1);
  const names = [...sizes.keys()].sort((one, other) => sizes.get(other) - sizes.get(one));
  const rest = names.slice(THEMES).reduce((sum, name) => sum + sizes.get(name), 0);
  const own = names.slice(0, THEMES).map((name, place) => ({ theme: place + 1, name, size: sizes.get(name) }));
  return rest ? [...own, { theme: 0, name: 'other', size: rest }] : own;
}

/** The circles: the area grows with the mentions, and the smallest has room for a number. */
function circlesOf(spots, themes) {
  const needs = spots.map(([id]) => run.byId.get(id));
  const most = Math.max(...needs.map(({ mentions }) => mentions));
  const [xs, ys] = [[ACROSS, 1], [DOWN, 2]].map(([size, axis]) => spread(spots.map((spot) => spot[axis]), size));
  const circles = needs.map((need, place) => {
    const theme = themes.find(({ name }) => name === spots[place][3])?.theme ?? 0;
    return { need, theme, x: xs[place], y: ys[place], radius: Math.max(30 * Math.sqrt(need.mentions / most), 10) };
  });
  moveApart(circles);
  return circles.map((circle) => ({ ...circle, link: linkOf(circle) }));
}

/** Numbers over the whole drawing, with room for labels at the edge. */
function spread(numbers, size) {
  const [low, margin] = [Math.min(...numbers), 48];
  const range = Math.max(...numbers) - low || 1;
  return numbers.map((number) => margin + (size - 2 * margin) * (number - low) / range);
}

/** Move overlapping circles apart, each by half the distance. */
function moveApart(circles) {
  const [rounds, gap] = [200, 4];
  const pairs = circles.flatMap((one, place) => circles.slice(0, place).map((other) => [one, other, place]));
  const inside = (number, edge, size) => Math.min(Math.max(number, edge), size - edge);
  for (let round = 0; round < rounds; round += 1) {
    for (const [one, other, place] of pairs) {
      const apart = Math.hypot(one.x - other.x, one.y - other.y);
      // Circles at the same place move in a direction of their own.
      const [dx, dy] = apart ? [(one.x - other.x) / apart, (one.y - other.y) / apart] : [Math.cos(place), Math.sin(place)];
      const short = Math.max(one.radius + other.radius + gap - apart, 0) / 2;
      for (const [each, way] of [[one, short], [other, -short]]) {
        each.x = inside(each.x + dx * way, each.radius + 1, ACROSS);
        each.y = inside(each.y + dy * way, each.radius + 1, DOWN);
      }
    }
  }
}

function linkOf({ need, theme, x, y, radius }) {
  const about = `${whole(need.rank)}. ${need.label}: ${counted(need.mentions, 'mention')}`;
  const lines = need.label.match(/\S.{0,17}(?!\S)|\S{18}/gu).map((line) => draw('tspan', { x: 0, dy: '1.2em' }, line));
  return draw('a', { class: `theme-${theme}${need.covered.length ? ' covered' : ''}`, transform: `translate(${tenths(x)} ${tenths(y)})`, href: `#${need.id}` },
    draw('title', {}, about),
    draw('circle', { r: tenths(radius) }),
    draw('text', { class: 'rank', dy: '0.35em' }, whole(need.rank)),
    draw('text', {}, ...lines.slice(0, 3), lines.length > 3 ? '…' : null));
}

/** Keep the labels that have room below, above or beside their circles; better ranks get it first. */
function placeLabels(circles) {
  const box = (x, y, across, down) => ({ left: x - across, right: x + across, top: y - down, bottom: y + down });
  const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const isInside = ({ left, right, top, bottom }) => left >= 0 && top >= 0 && right <= ACROSS && bottom <= DOWN;
  const taken = circles.map(({ x, y, radius }) => box(x, y, radius, radius));
  for (const { x, y, radius, link } of circles) {
    const label = link.lastChild;
    const { y: top, width, height } = label.getBBox();
    const [beside, below] = [radius + width / 2 + 4, radius + height / 2 + 1];
    const boxes = [[0, below], [0, -below], [beside, 0], [-beside, 0]]
      .map(([dx, dy]) => ({ dx, dy, ...box(x + dx, y + dy, width / 2, height / 2) }));
    const free = boxes.find((own) => isInside(own) && !taken.some((other) => meet(own, other)));
    if (!free) {
      label.remove();
      continue;
    }
    taken.push(free);
    label.setAttribute('transform', `translate(${tenths(free.dx)} ${tenths(free.dy - top - height / 2)})`);
  }
}

/** Buttons that leave one category clear and make the others faint. */
function legendOf(themes, links) {
  const choices = [{ name: 'All', theme: '' }, ...themes].map(({ name, theme, size }, place) => make('label', { class: `theme-${theme}` },
    make('input', { type: 'radio', name: 'theme', value: theme, ...(place ? {} : { checked: '' }) }),
    size ? make('span', { class: 'swatch' }) : null, isolated(size ? `${name} (${whole(size)})` : name)));
  const legend = make('fieldset', { class: 'themes' }, make('legend', {}, 'Category'), ...choices);
  legend.addEventListener('change', ({ target: { value } }) => {
    for (const link of links) link.classList.toggle('faint', value !== '' && !link.classList.contains(`theme-${value}`));
  });
  return legend;
}
