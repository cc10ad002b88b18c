// SPDX-License-Identifier: Apache-2.0
// The search without its display. SiteTest runs it in Rhino, which has no block-scoped const.
'use strict';

// Returns the sections that contain every word of a query: first those with the most words in their title, then in the
// order of reading.
function find(sections, query) {
  const words = query.toLowerCase().split(/\s+/).filter(word => word !== '');
  const found = [];
  if (words.length === 0) return found;
  for (let section of sections) {
    let title = section.title.toLowerCase();
    let all = [section.page, title, section.text].join(' ').toLowerCase();
    if (words.every(word => all.includes(word))) {
      let inTitle = words.filter(word => title.includes(word)).length;
      found.push({section: section, score: title === words.join(' ') ? inTitle + 1 : inTitle});
    }
  }
  found.sort((a, b) => b.score - a.score);
  return found.map(one => one.section);
}

// Returns the text around the first word of a query.
function excerpt(text, query) {
  const at = Math.max(text.toLowerCase().indexOf(query.trim().toLowerCase().split(/\s+/)[0]), 0);
  const start = at < 60 ? 0 : text.indexOf(' ', at - 60) + 1;
  return (start > 0 ? '… ' : '') + text.slice(start, start + 200) + (start + 200 < text.length ? ' …' : '');
}
