/**
 * The list of needs and the selected need. The address names what is shown: a need (`#cap-...`), a section or
 * the map. So people can share it, and the Back button works.
 */

const list = { found: [], total: 0, shown: 0, selected: null, chosen: null, left: null };
const NARROW = matchMedia('(max-width: 750px)');

/** Show the list and the evidence; the other views are made at their first use. */
function makeApp() {
  part('app').append(make('div', { id: 'sections' }));
  if (!run.capabilities.length) return;
  const foot = make('p', { class: 'foot' }, button('', showMore, { id: 'more' }), make('span', { id: 'count', role: 'status' }),
    make('span', { id: 'legend' }, make('span', { id: 'ties' }, make('i', { class: 'tie' }), 'joins level ranks'), make('kbd', {}, 'j ↓ k ↑')));
  const listed = make('div', { class: 'list' }, tableOfNeeds(), foot);
  const evidence = make('article', { id: 'evidence', 'aria-labelledby': 'need' });
  part('app').append(make('div', { class: 'needs' }, listed, evidence));
  for (const [height, name] of [['--head', 'header'], ['--foot', 'footer']]) {
    const edge = document.querySelector(name);
    const measure = () => document.documentElement.style.setProperty(height, `${edge.offsetHeight}px`);
    new ResizeObserver(measure).observe(edge);
  }
  relist();
}

/** List the needs that the filter finds, from the first on. */
function relist() {
  Object.assign(list, filtered(), { shown: run.shown.list });
  const rows = list.found.slice(0, list.shown).map(rowOf);
  table().replaceChildren(...(rows.length ? rows : [rowOfNone()]));
  sayCount();
  part('legend').hidden = !rows.length;
  part('ties').hidden = !(list.isWhole && run.ties.length);
  const need = list.found.includes(list.chosen) ? list.chosen : list.found[0];
  if (need === list.selected) markSelected();
  else select(need);
}

function table() {
  return part('needs').tBodies[0];
}

function rowOfNone() {
  return make('tr', { class: 'none', role: 'row' }, make('td', { role: 'cell' }, list.unclear ? `Not understood: ${list.unclear}. ` : 'No match. ', button('Clear the filter', clearFilter)));
}

/** Append the next rows. */
function showMore() {
  const next = list.found.slice(list.shown, list.shown + run.shown.more).map(rowOf);
  list.shown += next.length;
  table().append(...next);
  sayCount();
  next[0]?.querySelector('a').focus();
}

function sayCount() {
  const left = Math.max(list.found.length - list.shown, 0);
  part('more').hidden = !left;
  part('more').textContent = `${whole(Math.min(left, run.shown.more))} more`;
  const others = list.elsewhere ? `, and ${whole(list.elsewhere)} in other lists` : '';
  const number = list.isWhole ? Math.min(list.shown, list.found.length) : list.found.length;
  part('count').textContent = `${whole(number)} of ${counted(list.total, 'need')}${list.isWhole ? '' : ' match'}${others}`;
}

/** Show the evidence of a need beside the list; without a need, none. */
function select(need) {
  list.selected = need;
  if (list.chosen) setAddress(need);
  part('lost').textContent = '';
  part('evidence').hidden = !need;
  part('evidence').replaceChildren();
  if (need) showEvidence(need);
  markSelected();
}

function markSelected() {
  markCurrent('#needs a', ({ hash }) => hash === `#${list.selected?.id}`);
}

/** Let the address name a need, or none. */
function setAddress(need) {
  history.replaceState(history.state, '', need ? `#${need.id}` : location.pathname + location.search);
}

/** Select the need that stands some places further; the focus goes with it. */
function step(places) {
  const place = list.found.indexOf(list.selected) + places;
  if (!list.found[place]) return;
  const inEvidence = part('evidence').contains(document.activeElement);
  if (place >= list.shown) showMore();
  list.chosen = list.found[place];
  select(list.chosen);
  if (inEvidence) part('need').focus({ preventScroll: !NARROW.matches });
  else focusRow();
}

/** Move the focus to the selected row, or to the first one. */
function focusRow(options) {
  const row = document.querySelector('#needs a[aria-current]') ?? document.querySelector('#needs a');
  (row ?? part('main')).focus(options);
}

/** Show what the address names. */
function followAddress() {
  const name = location.hash.slice(1);
  const need = run.byId.get(name.match(/cap-[\da-f]{12}\b/i)?.[0].toLowerCase());
  list.chosen = need;
  const view = need ? 'needs' : viewOf(name);
  const wasOpen = part('main').hasAttribute('data-open');
  part('main').toggleAttribute('data-open', Boolean(need));
  if (need && need !== list.selected) select(need);
  part('lost').textContent = !need && /^cap-/i.test(name) ? 'This report has no such need.' : '';
  showView(view);
  if (view !== 'needs') part(name).scrollIntoView({ block: 'nearest' });
  if (wasOpen && !need && view === 'needs' && list.left !== null) {
    scrollTo(0, list.left);
    focusRow({ preventScroll: true });
  }
}

/** Follow a link of the page itself. On a narrow screen, a need takes the place of the list. */
function followLink(event) {
  const address = event.target.closest('a[href^="#"]')?.getAttribute('href');
  const isPlain = !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!address || !isPlain) return;
  event.preventDefault();
  if (address === '#main') {
    focusRow();
    return;
  }
  const isNeed = run.byId.has(address.slice(1));
  const isBeside = isNeed && document.body.dataset.view === 'needs' && !NARROW.matches;
  if (!isBeside) {
    list.left = document.body.dataset.view === 'needs' ? scrollY : null;
    history.scrollRestoration = NARROW.matches ? 'manual' : 'auto';
  }
  history[isBeside ? 'replaceState' : 'pushState']({ opened: true }, '', address);
  if (!isBeside) scrollTo(0, 0);
  followAddress();
  if (!isBeside && isNeed) part('need').focus({ preventScroll: true });
}

/** Leave the evidence on a narrow screen. */
function goBack() {
  if (history.state?.opened) history.back();
  else {
    setAddress();
    followAddress();
  }
}
