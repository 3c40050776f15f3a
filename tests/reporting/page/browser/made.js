async () => {
    const unseen = new CSSStyleSheet();
    unseen.replaceSync('#evidence, #sections { display: none }');
    document.adoptedStyleSheets = [unseen];
    const free = new Set(['id', 'href', 'data-id', 'value', 'd', 'x', 'y', 'width', 'title', 'aria-describedby',
        'aria-label', 'aria-labelledby', 'data-tab', 'class', 'transform', 'r']);
    // A date in a text is marked as one, if the text is not cut before.
    const made = (within) => [...within.querySelectorAll(':not(time)')].map((each) => [
        each.tagName,
        ...[...each.attributes].map(({ name, value }) => (free.has(name) ? name : `${name}=${value.replace(/[0-9]+/g, '0')}`)),
    ].join(' '));
    const kinds = (within) => [...new Set(made(within))].sort();
    const run = JSON.parse(document.getElementById('run-data').textContent);
    const [id, group] = ['id', 'group'].map((name) => run.columns.indexOf(name));
    const evidence = document.getElementById('evidence');
    const parts = {};
    const asking = new Set();  // which groups are near each other depends on the texts
    for (const [place, row] of run.rows.entries()) {
        const changed = new Promise((done) => addEventListener('hashchange', done, { once: true }));
        location.hash = row[id];
        await changed;
        for (const action of ['merge', 'split']) {
            evidence.querySelector(`[data-action=${action}]`)?.click();
            for (const box of evidence.querySelectorAll('#asking input:not(:checked)')) box.click();
            for (const each of made(evidence.querySelector('#asking'))) asking.add(each);
        }
        for (const action of ['author', 'dismiss', 'rename']) {
            evidence.querySelector(`[data-action=${action}]`)?.click();
            const field = evidence.querySelector('#asked');
            if (!field) continue;
            field.value = row[run.columns.indexOf('label')];
            evidence.querySelector('#asking').requestSubmit();
        }
        // So do marks, and the number of words that an entry shares.
        for (const each of evidence.querySelectorAll('.acts, #asking, .marks, .covers, [data-action]')) each.remove();
        parts[`need ${place}, ${row[group]}`] = made(evidence);
    }
    parts.asking = [...asking].sort();
    parts.basket = kinds(document.getElementById('basket'));
    for (const tab of ['#whole', ...(run.map.length ? ['#map'] : [])]) {
        const changed = new Promise((done) => addEventListener('hashchange', done, { once: true }));
        location.hash = tab;
        await changed;
    }
    parts.sections = kinds(document.getElementById('sections'));
    for (const each of document.querySelectorAll('#map svg text')) each.remove(); // a long label has no room
    parts.map = run.map.length ? kinds(document.getElementById('map')) : [];
    const filter = document.getElementById('filter');
    filter.focus();
    filter.value = 'is:all';
    filter.dispatchEvent(new Event('input'));
    while (!document.getElementById('more').hidden) document.getElementById('more').click();
    for (const each of document.querySelectorAll('#needs .marks, #needs .tie')) each.remove();
    parts.rows = made(document.getElementById('needs'));
    return parts;
}
