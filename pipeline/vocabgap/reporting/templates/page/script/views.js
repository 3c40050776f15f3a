/** The views: the needs, the map, and the sections of each tab. They are made when a person first opens them. */

function makeViews() {
  if (!run.capabilities.length && !run.sections.length) return;
  const tabs = [...new Set(run.sections.map(({ tab }) => tab))];
  const links = [
    ['needs', 'needs', 'Needs'],
    ...(run.map.length ? [['map', 'map', 'Map']] : []),
    ...tabs.map((tab) => [tab, run.sections.find((each) => each.tab === tab).id, tab]),
  ];
  const items = links.map(([view, id, text]) =>
    make('li', {}, make('a', { href: `#${id}`, 'data-view': view }, text)));
  part('views').append(make('ul', {}, ...items), run.capabilities.length ? filterForm() : '',
    make('time', { datetime: run.now }, run.now.slice(0, 10)));
}

/** The view that shows an element. */
function viewOf(id) {
  if (id === 'map' && run.map.length) return 'map';
  return run.sections.find((each) => each.id === id)?.tab ?? 'needs';
}

function showView(view) {
  const sections = part('sections');
  if (view !== 'needs' && view !== 'map' && !sections.childElementCount) sections.append(...sectionsOf(run.sections));
  for (const each of sections.children) each.hidden = each.dataset.tab !== view;
  document.body.dataset.view = view;
  if (view === 'map' && !part('map')) drawMap(run.map); // when it can be seen: it measures its labels
  markCurrent('#views a', (link) => link.dataset.view === view);
}
