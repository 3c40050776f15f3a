/** The map of the needs: a circle leads to its need; arrow keys move to the next circle in their direction. */

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function drawMap({ width, height, themes, circles }) {
  const links = circles.map(circleOf);
  // One stop for the Tab key instead of sixty.
  const stopAt = (stop) => { for (const link of links) link.setAttribute('tabindex', link === stop ? '0' : '-1'); };
  stopAt(links[0]);
  const drawing = draw('svg', { class: 'map', viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-labelledby': 'map-title' }, ...links);
  // Not on the drawing itself: an element that listens for focus is also a stop.
  const map = make('div', { class: 'wide' }, drawing);
  map.addEventListener('keydown', (event) => stepOnMap(event, links));
  map.addEventListener('focusin', ({ target }) => stopAt(target));
  return make('section', { id: 'map', 'aria-labelledby': 'map-title' },
    make('h2', { id: 'map-title' }, 'Map'),
    make('p', {}, `The first ${whole(circles.length)} needs. A larger circle has more mentions; neighbours have similar wordings or the same category.`),
    themesOf(themes, links), map);
}

function circleOf({ id, x, y, radius, theme, named, label }) {
  const { rank, label: name, mentions, covered } = run.byId.get(id);
  const about = `${whole(rank)}. ${name}: ${counted(mentions, 'mention')}`;
  const words = label.map((line) => draw('text', { x: line.x - x, y: line.y - y }, line.text));
  return draw('a', { class: `theme-${theme}${covered.length ? ' covered' : ''}`, transform: `translate(${x} ${y})`, href: `#${id}` },
    draw('title', {}, about),
    draw('circle', { r: radius }),
    draw('text', { class: 'rank', dy: named ? '-0.1em' : '0.35em' }, whole(rank)),
    named ? draw('text', { class: 'theme', dy: '1.1em' }, named) : null,
    ...words);
}

/** Buttons that leave one category clear and make the others faint. */
function themesOf(themes, links) {
  const choice = (text, theme) => {
    const input = make('input', { type: 'radio', name: 'theme' });
    input.checked = theme === null;
    input.addEventListener('change', () => {
      for (const link of links) link.classList.toggle('faint', theme !== null && !link.classList.contains(`theme-${theme}`));
    });
    return make('label', theme === null ? {} : { class: `theme-${theme}` }, input,
      theme === null ? null : make('span', { class: 'swatch' }), isolated(text));
  };
  return make('fieldset', { class: 'themes' }, make('legend', {}, 'Category'), choice('All', null),
    ...themes.map(({ number, name, capabilities }) => choice(`${name} (${whole(capabilities)})`, number)));
}

function stepOnMap(event, links) {
  const way = WAYS[event.key];
  const from = event.target.closest('a');
  if (!way || !from || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const [x, y] = middle(from);
  const ahead = links.map((link) => {
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
