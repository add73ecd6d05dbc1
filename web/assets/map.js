// Draws the points of the map on a canvas, and tells the chunk under the pointer or the cursor.
"use strict";
(() => {
  let points = null, canvas = null, at = -1, order = [];

  const colours = () => [...document.querySelectorAll(".map-legend circle")].map((c) => getComputedStyle(c).fill);
  const place = (i) => [points.x[i] / 10000 * canvas.width, points.y[i] / 10000 * canvas.height];

  const draw = () => {
    if (!points || !canvas.isConnected) return;
    const scale = devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    const g = canvas.getContext("2d"), fills = colours(), style = getComputedStyle(canvas);
    const r = (points.x.length > 5000 ? 1.4 : points.x.length > 800 ? 2.2 : 3.4) * scale;
    g.clearRect(0, 0, canvas.width, canvas.height);
    fills.forEach((fill, c) => {
      g.fillStyle = fill;
      g.globalAlpha = 0.75;
      g.beginPath();
      for (let i = 0; i < points.x.length; i++) {
        if (points.c[i] !== c) continue;
        const [x, y] = place(i);
        g.moveTo(x + r, y);
        g.arc(x, y, r, 0, 7);
      }
      g.fill();
    });
    g.globalAlpha = 1;
    const ring = (list, size, colour) => {
      g.strokeStyle = colour;
      g.lineWidth = 1.5 * scale;
      for (const i of list) {
        const [x, y] = place(i);
        g.beginPath();
        g.arc(x, y, r + size * scale, 0, 7);
        g.stroke();
      }
    };
    ring(points.o || [], 2.5, style.getPropertyValue("--alarm"));
    ring(points.d || [], 2.5, style.getPropertyValue("--soft"));
    const near = (canvas.dataset.near || "").split(",").filter(Boolean).map(Number);
    if (canvas.dataset.question) {
      const [x, y] = canvas.dataset.question.split(",").map((n, k) => n / 10000 * (k ? canvas.height : canvas.width));
      g.strokeStyle = style.getPropertyValue("--ink");
      g.lineWidth = 0.8 * scale;
      g.beginPath();
      for (const i of near) {
        g.moveTo(x, y);
        g.lineTo(...place(i));
      }
      g.stroke();
      ring(near, 3.5, style.getPropertyValue("--ink"));
      g.fillStyle = style.getPropertyValue("--ink");
      g.save();
      g.translate(x, y);
      g.rotate(Math.PI / 4);
      g.fillRect(-5 * scale, -5 * scale, 10 * scale, 10 * scale);
      g.restore();
    }
    if (at >= 0) ring([at], 6, style.getPropertyValue("--accent"));
  };

  // tell shows the chunk of a point, after a moment of rest.
  let waiting = null;
  const tell = (i) => {
    if (i === at || i < 0) return;
    at = i;
    canvas.dataset.at = i;
    draw();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const url = new URL(canvas.dataset.chunk, location);
      url.searchParams.set("i", i);
      htmx.ajax("GET", url.pathname + url.search, { target: "#chunk", swap: "innerHTML" });
    }, 60);
  };

  const under = (e) => {
    const box = canvas.getBoundingClientRect(), x = (e.clientX - box.left) / box.width * 10000, y = (e.clientY - box.top) / box.height * 10000;
    const wide = 10000 / box.width, high = 10000 / box.height;
    let best = -1, least = 14 * 14;
    for (let i = 0; i < points.x.length; i++) {
      const dx = (points.x[i] - x) / wide, dy = (points.y[i] - y) / high, d = dx * dx + dy * dy;
      if (d < least) [best, least] = [i, d];
    }
    return best;
  };

  const start = async () => {
    const found = document.getElementById("map");
    if (!found || found === canvas) return;
    canvas = found;
    at = -1;
    points = null;
    const answer = await fetch(canvas.dataset.url);
    if (!answer.ok) return;
    points = await answer.json();
    order = points.x.map((_, i) => i).sort((a, b) => points.x[a] - points.x[b] || points.y[a] - points.y[b]);
    draw();
    canvas.dataset.drawn = points.x.length;
    canvas.addEventListener("pointermove", (e) => tell(under(e)));
    canvas.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      const now = order.indexOf(at);
      tell(order[now < 0 ? 0 : Math.min(Math.max(now + step, 0), order.length - 1)]);
    });
  };

  for (const event of ["focusin", "mouseover"]) {
    document.addEventListener(event, (e) => {
      const link = e.target.closest && e.target.closest("[data-point]");
      if (link && points && canvas.isConnected && !link.closest("#chunk")) tell(Number(link.dataset.point));
    });
  }
  document.addEventListener("htmx:afterSwap", start);
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  start();
})();
