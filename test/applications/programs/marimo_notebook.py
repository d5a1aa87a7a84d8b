"""A notebook of one cell, as marimo keeps it."""

import marimo

app = marimo.App()


@app.cell
def _():
    answer = 6 * 7
    answer
    return


if __name__ == "__main__":
    app.run()
