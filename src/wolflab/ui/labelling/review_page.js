// Questions: the right answer, or rejected. A label is {answer: text | null (rejected) | undefined, comment}.

const COLUMNS = ["decision", "answer"];
const ABOUT = { rule: "About the rules", situation: "About a situation of a game" };
let shown = ""; // the item whose answers are offered
const given = (label) => label.answer !== undefined;
const row = (label) => (label.answer === null ? ["reject", ""] : ["keep", label.answer]);

function present(item, label) {
  $("who").textContent = `${ABOUT[item.category] || "A question"}:`;
  $("reply").textContent = item.question;
  $("given").textContent = item.answer ? `The file's answer: ${item.answer}` : "";
  $("given").hidden = !item.answer;
  if (shown !== item.id) offer(item);
  for (const made of $("answers").children)
    made.setAttribute("aria-pressed", String(label.answer === made.value));
  $("other-told").hidden = item.form !== "open";
  $("other").value = typeof label.answer === "string" && !item.answers.includes(label.answer) ? label.answer : "";
  $("reject").setAttribute("aria-pressed", String(label.answer === null));
  $("rules").parentElement.hidden = !sample.rules[item.rules];
  $("proof").hidden = item.derivation.length === 0;
  $("derivation").replaceChildren(...item.derivation.map((step) => element("li", step)));
}

// Buttons are made once for an item: a comment that is left for a button must not take the button away.
function offer(item) {
  const focused = [...$("answers").children].indexOf(document.activeElement);
  $("answers").replaceChildren(
    ...item.answers.map((answer, place) => {
      const made = element("button", item.form === "open" ? "The file's answer is right" : answer);
      Object.assign(made, { type: "button", value: answer, className: "main answer" });
      made.addEventListener("click", () => choose(place));
      return made;
    }),
  );
  if (focused >= 0) ($("answers").children[focused] || $("next")).focus();
  shown = item.id;
}

function choose(place) {
  const answer = sample.items[at].answers[place];
  if (answer === undefined) return;
  set({ answer });
  if (at < sample.items.length - 1) go(at + 1);
}

function pressed(key) {
  const place = { y: "Yes", n: "No" }[key];
  if (place) choose(sample.items[at].answers.indexOf(place));
  else if (/^[1-9]$/.test(key)) choose(Number(key) - 1);
  else if (key === "r") set({ answer: null });
  else return false;
  return true;
}

$("reject").addEventListener("click", () => set({ answer: null }));
$("clear").addEventListener("click", () => set({ answer: undefined }));
$("other").addEventListener("change", (event) => set({ answer: event.target.value.trim() || undefined }));
start();
