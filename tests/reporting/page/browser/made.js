async () => {
    const unseen = new CSSStyleSheet();
    unseen.replaceSync('#panel-body { display: none }');
    document.adoptedStyleSheets = [unseen];
    const free = new Set(['id', 'href', 'data-id', 'value', 'd', 'x', 'width', 'aria-describedby', 'aria-label',
        'aria-keyshortcuts', 'title']);
    const shape = (value) => value.replace(/[0-9]+(–[0-9]+)?/g, '0');  // of an interval
    const made = (within) => [...within.querySelectorAll('*')].map((each) => [
        each.tagName,
        ...[...each.attributes].map(({ name, value }) => (free.has(name) ? name : `${name}=${shape(value)}`)),
    ].join(' '));
    const run = JSON.parse(document.getElementById('run-data').textContent);
    const [id, group] = ['id', 'group'].map((name) => run.columns.indexOf(name));
    const parts = {};
    const asking = [];  // which groups are near each other depends on the texts
    const matched = [];  // so does the number of words that an entry shares
    for (const [place, row] of run.rows.entries()) {
        const changed = new Promise((done) => addEventListener('hashchange', done, { once: true }));
        location.hash = row[id];
        await changed;
        const choices = document.querySelector('#panel .decide');
        const way = '[data-action=pin][aria-pressed=false], input:not(:checked)';
        for (const each of choices.querySelectorAll(way)) each.click();
        asking.push(...made(choices));
        choices.remove();
        for (const each of document.querySelectorAll('#panel .covers td:last-child')) {
            matched.push(...made(each));
            each.replaceChildren();
        }
        for (const name of ['panel-basket', 'panel-undo']) document.getElementById(name).hidden = false;
        parts[`panel ${place}, ${row[group]}`] = made(document.getElementById('panel'));
    }
    document.getElementById('f-group').value = '';
    document.getElementById('filters').dispatchEvent(new Event('input'));
    parts.asking = [...new Set(asking)].sort();
    parts.matched = [...new Set(matched)].sort();
    parts.basket = [...new Set(made(document.getElementById('basket')))].sort();
    // Marks say what may be one need, which depends on the texts, too.
    for (const each of document.querySelectorAll('#rows .name')) each.remove();
    parts.rows = made(document.getElementById('rows'));
    parts.filters = made(document.getElementById('filters'));
    return parts;
}
