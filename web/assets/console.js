// The scripts that htmx does not replace. They mark no up text: they set attributes and texts only.
"use strict";
(() => {
  // Light or dark: a cookie, so that the server sends the page in the right colours.
  const dark = () => {
    const set = document.documentElement.dataset.theme;
    return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  // copy puts the text of the element that a button names on the clipboard.
  const copy = async (button) => {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea"); // without https the clipboard is closed
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  };
  document.addEventListener("click", (e) => {
    const button = e.target.closest("[data-theme-switch], [data-copy]");
    if (!button) return;
    if ("themeSwitch" in button.dataset) {
      const theme = dark() ? "light" : "dark";
      document.documentElement.dataset.theme = theme;
      document.cookie = `ragctx-theme=${theme}; path=/console; max-age=31536000; samesite=strict`;
    } else {
      copy(button);
    }
  });
  // A slider is logarithmic, from 50 to 50,000; the number that it slides is what the form sends.
  const least = 50, most = 50000;
  document.addEventListener("input", (e) => {
    const { slides } = e.target.dataset;
    if (slides) {
      const n = least * (most / least) ** (e.target.value / 1000);
      const step = 10 ** Math.max(0, Math.floor(Math.log10(n)) - 1);
      document.getElementById(slides).value = Math.round(n / step) * step;
      return;
    }
    const slider = e.target.id && document.querySelector(`[data-slides="${CSS.escape(e.target.id)}"]`);
    if (slider) slider.value = 1000 * Math.log(Math.max(e.target.value, least) / least) / Math.log(most / least);
  });
  // A button that asks before it does something that cannot be undone.
  document.addEventListener("click", (e) => {
    const asked = e.target.closest("[data-confirm]");
    if (asked && !confirm(asked.dataset.confirm)) e.preventDefault();
  });
  document.addEventListener("change", (e) => {
    if ("submit" in e.target.dataset) e.target.form.requestSubmit();
  });

  // The server is away: say so, ask until it is back, and repeat the last request of the page.
  let waiting = null;
  document.addEventListener("htmx:sendError", (e) => {
    const banner = document.getElementById("offline");
    const again = e.detail.elt;
    const verb = e.detail.requestConfig && e.detail.requestConfig.verb;
    banner.hidden = false;
    if (waiting) return;
    const ask = async () => {
      try {
        await fetch(banner.dataset.url, { cache: "no-store" });
      } catch {
        waiting = setTimeout(ask, 1000);
        return;
      }
      waiting = null;
      banner.hidden = true;
      if (verb === "get" && again.isConnected) htmx.trigger(again, "again");
    };
    waiting = setTimeout(ask, 1000);
  });
})();
