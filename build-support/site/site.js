// SPDX-License-Identifier: Apache-2.0
'use strict';

function startSearch() {
  const MOST = 20;
  const up = document.documentElement.dataset.up;
  const input = document.getElementById('query');
  const results = document.getElementById('results');

  function element(tag, children) {
    const made = document.createElement(tag);
    made.append(...children);
    return made;
  }

  function marked(text, query) {
    const words = query.trim().split(/\s+/).map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return text.split(new RegExp('(' + words.join('|') + ')', 'i'))
        .map((part, i) => i % 2 === 1 ? element('mark', [part]) : part);
  }

  function result(section, query) {
    const link = element('a', [
      element('b', marked(section.title, query)),
      section.title === section.page ? '' : ' – ' + section.page,
      element('small', marked(excerpt(section.text, query), query))]);
    link.href = up + section.url;
    return link;
  }

  function show() {
    const query = input.value.trim();
    results.hidden = query.length < 2;
    if (results.hidden || typeof searchIndex === 'undefined') return;
    const found = find(searchIndex, query);
    const api = element('a', ['Search the javadoc for “' + query + '”']);
    api.href = up + 'javadoc/search.html?q=' + encodeURIComponent(query);
    const count = element('p', [found.length === 0 ? 'No section has all of these words.'
        : found.length === 1 ? '1 section' : found.length + ' sections'
            + (found.length > MOST ? '; the best ' + MOST + ' are:' : '')]);
    count.setAttribute('role', 'status');
    results.replaceChildren(count, ...found.slice(0, MOST).map(section => result(section, query)), api);
  }

  input.addEventListener('focus', () => {
    const script = document.createElement('script');
    script.src = up + 'search-index.js';
    script.onload = show;
    document.head.append(script);
  }, {once: true});
  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  document.addEventListener('click', event => {
    if (!input.parentElement.contains(event.target) || event.target.closest('a')) results.hidden = true;
  });
  document.addEventListener('keydown', event => {
    const links = [...results.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    const isInside = input.parentElement.contains(document.activeElement);
    if (event.key === '/' && !document.activeElement.matches('input')) input.select();
    else if (event.key === 'Escape' && isInside) { input.focus(); results.hidden = true; }
    else if (event.key === 'ArrowDown' && isInside && links.length > 0) links[Math.min(at + 1, links.length - 1)].focus();
    else if (event.key === 'ArrowUp' && isInside && links.length > 0) (at > 0 ? links[at - 1] : input).focus();
    else if (event.key === 'Enter' && document.activeElement === input && links.length > 0) links[0].click();
    else return;
    event.preventDefault();
  });
}

function addCopyButtons() {
  for (const code of document.querySelectorAll('main pre')) {
    const box = document.createElement('div');
    const button = document.createElement('button');
    box.className = 'code';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => navigator.clipboard.writeText(code.textContent)
        .then(() => button.textContent = 'Copied'));
    code.replaceWith(box);
    box.append(code, button);
  }
}

// A keyboard scrolls what has the focus.
function makeWideBoxesFocusable() {
  for (const box of document.querySelectorAll('main pre, .scrolling')) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}

startSearch();
addCopyButtons();
makeWideBoxesFocusable();
