"""python -m pyrometer: the command-line tool."""
from ._binary import main

main()
