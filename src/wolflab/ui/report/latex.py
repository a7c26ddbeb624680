"""Words for LaTeX: special characters are escaped, and characters that pdfLaTeX lacks are replaced.

Letters of other scripts stay as they are; XeLaTeX and LuaLaTeX set them with a font that has them.
"""

from __future__ import annotations

_MATHS = {
    "−": "-",
    "±": r"\pm",
    "×": r"\times",
    "→": r"\rightarrow",
    "←": r"\leftarrow",
    "↓": r"\downarrow",
    "↑": r"\uparrow",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "∞": r"\infty",
    "√": r"\surd",
    "◇": r"\diamond",
    "Δ": r"\Delta",
    "α": r"\alpha",
    "β": r"\beta",
    "γ": r"\gamma",
    "δ": r"\delta",
    "ε": r"\varepsilon",
    "κ": r"\kappa",
    "λ": r"\lambda",
    "π": r"\pi",
    "σ": r"\sigma",
    "τ": r"\tau",
    "χ": r"\chi",
    "<": "<",
    ">": ">",
    "|": "|",
    **{low: f"_{k}" for k, low in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{high: f"^{k}" for k, high in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
_LETTERS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "[": "{[}",  # after a line break LaTeX would read it as a length
        "–": "--",
        "—": "---",
        "“": "``",
        "”": "''",
        "‘": "`",
        "’": "'",
        '"': r"\textquotedbl{}",
        "…": r"\ldots{}",
        "\u202f": r"\,",
        "\u00a0": "~",
        "\ufffd": "?",
        "\n": " ",
        **{sign: f"${maths}$" for sign, maths in _MATHS.items()},
    }
)


def latex_words(text: str) -> str:
    """Plain words as LaTeX."""
    return text.translate(_LETTERS)
