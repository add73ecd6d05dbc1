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

  // Uploads: the files of one drop are one bulk request, whose answer is the progress of its job.
  const filesOf = async (entry, path = "") => {
    if (entry.isFile) {
      const file = await new Promise((ok, bad) => entry.file(ok, bad));
      return [{ file, name: path + file.name }];
    }
    const reader = entry.createReader(), found = [];
    for (;;) {
      const some = await new Promise((ok, bad) => reader.readEntries(ok, bad));
      if (some.length === 0) return found;
      for (const e of some) found.push(...await filesOf(e, path + entry.name + "/"));
    }
  };
  const upload = (form, files) => {
    if (files.length === 0) return;
    const data = new FormData();
    data.append("options", JSON.stringify({ prefix: form.elements.prefix.value }));
    for (const { file, name } of files) data.append("file", file, name);
    const sending = form.querySelector(".sending"), bar = sending.querySelector("progress"), text = sending.querySelector("span");
    const request = new XMLHttpRequest();
    request.open("POST", form.dataset.url);
    request.setRequestHeader("HX-Request", "true");
    for (const [name, value] of Object.entries(JSON.parse(document.body.getAttribute("hx-headers")))) request.setRequestHeader(name, value);
    sending.hidden = false;
    request.upload.onprogress = (e) => {
      bar.value = e.loaded / e.total;
      text.textContent = `${files.length} ${files.length === 1 ? "file" : "files"}, ${Math.round(100 * bar.value)} % sent`;
    };
    request.onloadend = () => {
      sending.hidden = true;
      const to = request.getResponseHeader("HX-Redirect");
      if (to) { location.assign(to); return; }
      if (request.status === 0) {
        text.textContent = "The server does not answer. Send the files again.";
        sending.hidden = false;
        return;
      }
      htmx.swap(form.querySelector(".uploads"), request.responseText, { swapStyle: "afterbegin" });
      if (!request.responseText.includes("data-events=")) htmx.trigger(document.body, "uploaded"); // the job has ended
    };
    request.send(data);
  };
  document.addEventListener("change", (e) => {
    const form = e.target.type === "file" && e.target.closest(".upload");
    if (!form) return;
    upload(form, [...e.target.files].map((file) => ({ file, name: file.name })));
    e.target.value = "";
  });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, async (e) => {
      const form = document.querySelector(".upload");
      if (!form || !e.dataTransfer || ![...e.dataTransfer.types].includes("Files")) return;
      e.preventDefault();
      form.toggleAttribute("data-over", kind === "dragover");
      if (kind !== "drop") return;
      const entries = [...e.dataTransfer.items].map((i) => i.webkitGetAsEntry && i.webkitGetAsEntry()).filter(Boolean);
      const plain = [...e.dataTransfer.files].map((file) => ({ file, name: file.name }));
      upload(form, entries.length ? (await Promise.all(entries.map((entry) => filesOf(entry)))).flat() : plain);
    });
  }

  // An element with data-events follows a job: each event is the element's new content.
  const follow = (root) => {
    for (const e of root.querySelectorAll("[data-events]")) {
      const source = new EventSource(e.dataset.events);
      e.removeAttribute("data-events");
      const show = (event) => {
        if (!e.isConnected) { source.close(); return; }
        htmx.swap(e, event.data, { swapStyle: "innerHTML" });
      };
      source.addEventListener("progress", show);
      source.addEventListener("end", (event) => {
        source.close();
        show(event);
        htmx.trigger(document.body, "uploaded");
      });
    }
  };
  new MutationObserver(() => follow(document)).observe(document.documentElement, { childList: true, subtree: true });
  follow(document);

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

  // A ledger: new messages come first. Their HTML is from this server, which escapes it.
  const ledger = document.querySelector("[data-stream]");
  if (ledger) {
    new EventSource(ledger.dataset.stream).addEventListener("message", (e) => {
      htmx.swap(ledger, e.data, { swapStyle: "afterbegin" });
    });
  }
})();
