"""Write the programs of a page, and the texts that they print, into a folder: 1.ts and 1.txt, and so on.

    programs.py PAGE LANGUAGE SUFFIX FOLDER
"""

import pathlib
import re
import sys

page, language, suffix, folder = sys.argv[1:]
target = pathlib.Path(folder)
target.mkdir(parents=True, exist_ok=True)
for n, (program, printed) in enumerate(re.findall(rf"```{language}\n(.*?)```\n\n```text\n(.*?)```", pathlib.Path(page).read_text(), re.DOTALL), 1):
    (target / f"{n}.{suffix}").write_text(program)
    (target / f"{n}.txt").write_text(printed)
