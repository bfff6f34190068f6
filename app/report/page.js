// Sorting tables by their headers, and scrolling wide ones by keyboard. Without it the page is whole, too.
'use strict';
(function () {
  // A number's cell has data-value; one without a value comes last, whichever the direction.
  function compare(a, b, sign) {
    const one = a.dataset.value, other = b.dataset.value;
    if (one !== undefined && other !== undefined) return sign * (Number(one) - Number(other));
    if (one !== undefined || other !== undefined) return one !== undefined ? -1 : 1;
    const empty = (a.textContent === '-') - (b.textContent === '-');
    return empty || sign * a.textContent.localeCompare(b.textContent, 'en', {numeric: true});
  }

  function sort(header) {
    const ascending = header.getAttribute('aria-sort') !== 'ascending';
    for (const each of header.parentNode.cells) each.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
    const body = header.closest('table').tBodies[0];
    const column = header.cellIndex;
    const rows = Array.from(body.rows);
    rows.sort((a, b) => compare(a.cells[column], b.cells[column], ascending ? 1 : -1));
    body.append(...rows);
  }

  for (const header of document.querySelectorAll('thead th')) {
    if (header.closest('table').tBodies[0].rows.length < 2) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...header.childNodes);
    button.addEventListener('click', () => sort(header));
    header.append(button);
  }

  // What scrolls must take the focus; what doesn't should not.
  function mark(box) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
  }
  const boxes = document.querySelectorAll('.scroll');
  const watcher = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
  for (const box of boxes) watcher.observe(box);
})();
