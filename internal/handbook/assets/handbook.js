// The page is whole without this: it adds buttons that copy examples, and opens what a link in the page leads to.
"use strict";

for (const block of document.querySelectorAll("pre")) {
  if (!navigator.clipboard) break; // only there on secure origins and on this machine
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

// On a narrow screen the contents fold away again once something is chosen.
for (const menu of document.querySelectorAll(".menu")) {
  menu.addEventListener("click", (event) => {
    if (event.target instanceof HTMLAnchorElement) menu.open = false;
  });
}
