/** Stylesheet of the demo shop, light and dark. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #faf6ee; --card: #fffdf8; --ink: #2b2620; --soft: #6b6255; --line: #e4dccc; --accent: #8a3b1f; --good: #2f6b3c; --bad: #9a3412;
  --serif: Georgia, "Iowan Old Style", "Palatino Linotype", serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #1a1815; --card: #24211d; --ink: #ece5d8; --soft: #a99e8d; --line: #3a352d; --accent: #e6a27c; --good: #8fca9a; --bad: #f0a58a; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 var(--sans); }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 3px; }
a:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.2; margin: 0 0 .5rem; text-wrap: balance; }
h1 { font-size: clamp(1.8rem, 4vw, 2.6rem); }
h2 { font-size: 1.35rem; margin-top: 2.5rem; }
.top { border-bottom: 1px solid var(--line); background: var(--card); }
.top .in { display: flex; flex-wrap: wrap; gap: .35rem 1.25rem; align-items: baseline; padding-block: .9rem; }
.top nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; font-size: .93rem; }
.top nav a { color: var(--soft); text-decoration: none; }
.top nav a:hover, .top nav a[aria-current] { color: var(--accent); text-decoration: underline; }
.brand { font-family: var(--serif); font-size: 1.3rem; font-weight: 600; color: var(--ink); text-decoration: none; margin-right: auto; }
.brand span { color: var(--accent); }
.in { max-width: 66rem; margin-inline: auto; padding-inline: 1.25rem; }
main.in { padding-block: 2.25rem 3rem; }
.lead { font-size: 1.1rem; color: var(--soft); max-width: 42rem; margin: 0 0 1rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(10.5rem, 42vw), 1fr)); gap: 1.25rem; padding: 0; margin: 1rem 0; list-style: none; }
.grid.wide { grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .9rem; display: flex; flex-direction: column; gap: .3rem; }
.card h3 { font-size: 1.02rem; margin: 0; }
.card h3 a { color: inherit; text-decoration: none; }
.card h3 a:hover { text-decoration: underline; }
.card img, .cover { display: block; width: 100%; height: auto; border-radius: 6px; }
.card p { margin: 0; font-size: .92rem; color: var(--soft); }
.card .price { margin-top: auto; color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
.tile h4 { font-family: var(--serif); font-size: 1.02rem; margin: 0; } .tile h4 a { color: inherit; }
.tile-by { font-size: .92rem; color: var(--soft); } .tile-foot { margin-top: auto; display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem; }
.stars { color: var(--accent); letter-spacing: .1em; white-space: nowrap; }
.in-stock { color: var(--good); } .out-of-stock { color: var(--bad); }
.book { display: grid; grid-template-columns: minmax(9rem, 15rem) 1fr; gap: 2rem; align-items: start; }
.book .price { font-size: 1.5rem; font-weight: 600; margin: .5rem 0; }
.offer { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: baseline; padding: .75rem 1rem; margin: .75rem 0; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
.offer .cost { font-size: 1.5rem; }
.facts { margin-top: 1.5rem; font-size: .95rem; width: auto; }
.book dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 1.5rem 0 0; font-size: .95rem; }
dt { color: var(--soft); } dd { margin: 0; }
.pager { display: flex; gap: 1rem; align-items: center; margin-top: 2rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.crumbs { font-size: .9rem; color: var(--soft); margin: 0 0 1rem; }
figure { margin: 0; } figcaption { font-size: .85rem; color: var(--soft); margin-top: .4rem; }
figure img { background: var(--line); border-radius: 8px; max-width: 100%; height: auto; display: block; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); font-size: .9rem; }
button { font: inherit; padding: .5rem 1rem; border-radius: 8px; border: 1px solid var(--accent); background: none; color: var(--accent); cursor: pointer; }
#app.in { padding-block: 2.25rem 3rem; }
.foot { border-top: 1px solid var(--line); color: var(--soft); font-size: .88rem; }
.foot .in { padding-block: 1.25rem 2rem; }
.foot form { margin-top: .75rem; } .foot button { padding: .25rem .75rem; margin-right: .35rem; }
.challenge { position: absolute; top: 260px; left: 20px; margin: 0; display: flex; gap: 20px; }
.challenge-book { width: 100px; height: 100px; font: inherit; }
@media (max-width: 34rem) { .book { grid-template-columns: 1fr; } .cover { max-width: 12rem; } }
`.trimStart();
