/** A page like a shop category: 24 products, a navigation of 32 topics, 83 links, 30 KB. */
export function shopPage(): string {
  const cards = Array.from({ length: 24 }, (_, index) => card(index)).join("");
  const topics = Array.from(
    { length: 32 },
    (_, index) =>
      `<li class="nav-item"><a class="nav-link" href="/category/books/topic-${index}/index.html">Topic ${index}</a></li>\n`,
  ).join("");
  const script = "var x=1;if(x<2){x+=3}".repeat(60);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>All products | A shop of books</title>
<meta name="description" content="A page"><link rel="stylesheet" href="/s.css"><script>${script}</script></head>
<body class="default"><header class="header container-fluid"><div class="page_inner"><div class="row">
<div class="col-sm-8 h1"><a href="index.html">Books</a><small> We love being read!</small></div></div></div></header>
<div class="container"><ul class="breadcrumb"><li><a href="index.html">Home</a></li><li class="active">All products</li></ul>
<aside><ul class="nav nav-list">${topics}</ul></aside><h1>All products</h1><div class="sku" data-sku="ABC-123">SKU</div>
<section>${cards}</section></div><footer><p>&copy; 2024 <a href="/imprint">Imprint</a></p></footer></body></html>`;
}

function card(index: number): string {
  const address = `catalogue/book-${index}_${1000 - index}/index.html`;
  return `
      <article class="product_pod" data-id="${index}">
        <div class="image_container"><a href="${address}"><img src="media/cache/${index}/cover.jpg" alt="Book ${index} &amp; others" class="thumbnail"></a></div>
        <p class="star-rating Three"><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i></p>
        <h3><a href="${address}" title="Book number ${index}">Book number ${index} with a title ...</a></h3>
        <p class="blurb">Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam &mdash; quis nostrud exercitation ullamco.</p>
        <div class="product_price"><p class="price_color">£${(10 + index * 1.37).toFixed(2)}</p><p class="instock availability"><i class="icon-ok"></i> In stock</p><form><button type="submit" class="btn btn-primary btn-block" data-loading-text="Adding...">Add to basket</button></form></div>
      </article>`;
}
