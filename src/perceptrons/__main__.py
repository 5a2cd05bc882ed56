"""`python -m perceptrons` is the command `perceptrons`."""

from perceptrons.cli.main import main

if __name__ == "__main__":
    main()
