"""The command `perceptrons`, also as `python -m perceptrons`. It imports the rest so that Ctrl-C is always quiet."""

import sys


def main() -> None:
    """Import the command and run it. Ctrl-C ends the imports without a traceback."""
    try:
        import signal

        # An exception in the middle of an import may be lost or reported by others, so the signal itself ends the
        # process. It stays ignored if the parent process has asked for that.
        early = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if early:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        from perceptrons.cli.main import main as run

        if early:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
